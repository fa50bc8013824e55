#!/bin/bash -p
# A helper for shells and coding agents; `journal-record.sh --help` tells what it does.
self=${BASH_SOURCE[0]}
while [[ -L $self ]]; do
    link=$(readlink "$self")
    [[ $link == /* || $self != */* ]] || link=${self%/*}/$link
    self=$link
done
[[ $self == /* ]] || self=./$self
. "${self%/*}/_start.bash"
flow_start journal-record "$@"
