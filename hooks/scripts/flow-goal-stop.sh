#!/bin/bash -p
# The Stop hook under its older name.
self=${BASH_SOURCE[0]}; [[ $self == /* ]] || self=$PWD/$self
while [[ -L $self ]]; do link=$(readlink "$self"); [[ $link == /* ]] || link=${self%/*}/$link; self=$link; done
. "${self%/*}/flow-goal-evaluator.sh"
