"""Which calls destroy something: read as shell, not searched as text."""

from __future__ import annotations

from typing import Any

import pytest

from flow.adapters.attribution.shell_syntax import parse_shell
from flow.core.attribution.destructive import destroys, tool_destroys

YES = (
    "rm -rf build",
    "rm -r build",
    "rm -f one two",
    "rm --recursive x",
    "rm *.log",
    "sudo rm -rf /var/x",
    "cd x && rm -rf y",
    "/bin/rm -fr x",
    "timeout 5 rm -rf x",
    "env A=1 rm -rf x",
    'rm -rf "$dir"',
    "x=$(rm -rf y)",
    "bash -c 'rm -rf x'",
    "bash -lc \"bash -c 'rm -rf x'\"",
    "eval 'git reset --hard'",
    "ls | xargs rm",
    "ls | xargs -n 1 rm -rf",
    "ls | xargs -d ';' -L 2 -P 4 -I {} rm {}",
    "parallel -j 4 rm -rf ::: a b",
    "doas -u me rm -rf x",
    "docker exec -u me app rm -rf x",
    "find . -name x -delete",
    "find . -name x -exec rm {} \\;",
    "find . -exec rm -rf {} +",
    "ssh host rm -rf /srv",
    "ssh -p 22 host 'rm -rf /srv'",
    "su root -c 'rm -rf x'",
    "docker exec -it box rm -rf /x",
    "kubectl exec pod -- rm -rf /data",
    "if true; then rm -rf x; fi",
    "f() { rm -rf x; }; f",
    "echo hi\nrm -rf x",
    "git push --force",
    "git push -f origin main",
    "git push origin +main",
    "git push origin :old",
    "git push --force-with-lease",
    "git push origin --delete old",
    "git -C sub push --force",
    "git -c a.b=c reset --hard HEAD~1",
    "git clean -fdx",
    "git checkout -- .",
    "git checkout .",
    "git checkout -f main",
    "git switch --discard-changes main",
    "git restore src",
    "git restore --staged --worktree src",
    "git branch -D old",
    "git tag -d v1",
    "git stash drop",
    "git stash clear",
    "git worktree remove --force x",
    "git reflog expire --expire=now --all",
    "git update-ref -d refs/heads/x",
    "git gc --prune=now",
    "git filter-branch --all",
    "kubectl delete pod x",
    "kubectl -n prod delete deployment web",
    "kubectl --context live --namespace web delete deployment web",  # HAZARD I319
    "kubectl --kubeconfig k.yaml -n web exec pod -- rm -rf /data",
    "helm --kube-context live -n web uninstall web",
    "aws --profile live --region eu-west-1 ec2 terminate-instances --instance-ids i-1",
    "aws --profile $P s3 rm s3://b --recursive",
    "docker --context live system prune -af",
    "docker -H tcp://live:1 exec app rm -rf /x",
    "gcloud --project live --account a compute instances delete vm",
    "redis-cli -h live -p 6379 -a $PASSWORD -n 0 flushall",
    "kubectl drain node1",
    "helm uninstall web",
    "terraform destroy -auto-approve",
    "terraform apply -destroy",
    "terraform state rm aws_x.y",
    "tofu destroy",
    "pulumi destroy --yes",
    "aws s3 rm s3://b --recursive",
    "aws --profile=p s3 rb s3://b",
    "aws s3 rb s3://b",
    "aws ec2 terminate-instances --instance-ids i-1",
    "aws rds delete-db-instance --db x",
    "gcloud compute instances delete vm1",
    "az group delete --name g",
    "gh repo delete o/r --yes",
    "docker system prune -af",
    "docker volume rm data",
    "docker rm -f box",
    "docker compose down -v",
    "docker-compose down --volumes",
    "podman rmi x",
    "psql -c 'DROP TABLE users'",
    'psql db -c "delete from users;"',
    "echo 'drop database x' | mysql",
    "psql <<EOF\nTRUNCATE TABLE users;\nEOF",
    "sqlite3 x.db 'DROP INDEX i'",
    "mongosh --eval 'db.users.drop()'",
    "dropdb prod",
    "redis-cli FLUSHALL".lower(),
    "rails db:drop",
    "python manage.py flush --noinput",
    "python -c 'import shutil; shutil.rmtree(\"x\")'",
    "node -e 'fs.rmSync(\"x\")'",
    "npm unpublish x",
    "mkfs.ext4 /dev/sdb1",
    "dd if=/dev/zero of=/dev/sda",
    "cat x > /dev/sda",
    "shred -u x",
    "truncate -s 0 log",
    "rsync -a --delete a/ b/",
    "crontab -r",
    "iptables -F",
    "vagrant destroy -f",
)
NO = (
    "",
    "rm one.txt",
    'echo "rm -rf /"',
    "echo 'git push --force'",
    "grep -r 'DROP TABLE' src",
    "cat <<EOF > notes.md\nrm -rf x\nDROP TABLE y;\nEOF",
    "git push",
    "git push origin main",
    "git reset HEAD x",
    "git reset --soft HEAD~1",
    "git clean -n",
    "git clean -nf",
    "git checkout main",
    "git checkout -b new",
    "git restore --staged x",
    "git branch -d merged",
    "git stash",
    "git worktree remove x",
    "git status",
    "git",
    "git log --oneline -- rm",
    "kubectl get pods",
    "kubectl --context delete get pods",
    "aws --profile live ec2 describe-instances",
    "terraform plan -destroy",
    "terraform apply",
    "aws s3 ls",
    "aws ec2 describe-instances",
    "docker ps",
    "docker rm box",
    "docker compose down",
    "docker",
    "psql -c 'select 1'",
    "psql -c 'delete from users where id = 1'",
    "python -c 'print(1)'",
    "find . -name '*.pyc'",
    "find . -exec grep x {} +",
    "dd if=a of=b",
    "dd if=/dev/zero of=/dev/null",
    "ls | xargs cat",
    "ssh host uptime",
    "commit -m 'delete the old rm -rf call'",
    "# rm -rf x",
    "gh issue list --search 'delete'",
)


def test_destructive() -> None:
    assert [command for command in YES if not destroys(command, parse_shell)] == []


def test_not_destructive() -> None:
    assert [command for command in NO if destroys(command, parse_shell)] == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("rm -rf x; if", True),
        ("((( && git reset --hard", True),
        ("select x where y; echo 'a", False),
        ("rm -rf y " + "x" * (1 << 17), True),
    ],
)
def test_what_is_no_shell_is_taken_by_its_words(command: str, found: bool) -> None:
    assert parse_shell(command) is None
    assert destroys(command, parse_shell) is found


def test_shells_in_shells_end() -> None:
    text = "rm -rf x"
    for _ in range(12):
        text = "bash -c " + "'" + text.replace("'", "'\\''") + "'"
    assert destroys(text, parse_shell) in (True, False)


@pytest.mark.parametrize(
    ("tool", "given", "found"),
    [
        ("Bash", {"command": "rm -rf x"}, True),
        ("Bash", {"command": 3}, False),
        ("Bash", {}, False),
        ("shell", {"command": ["rm", "-rf", "x"]}, True),
        ("shell", {"command": ["bash", "-lc", "git reset --hard"]}, True),
        ("shell", {"command": ["ls", 3]}, False),
        ("Write", {"content": "rm -rf x", "command": "rm -rf x"}, False),
        ("Read", {"file_path": "/x"}, False),
        ("mcp__db__query", {"sql": "DROP TABLE x"}, True),
        ("mcp__db__query", {"sql": "SELECT 1"}, False),
        ("mcp__db__query", {"query": 3}, False),
        ("mcp__github__delete_repository", {}, True),
        ("mcp__github__deleteRepository", {}, True),
        ("mcp__github__get_deleted", {}, False),
        ("mcp__notes__undelete", {}, False),
        ("TaskDelete", {"sql": "DROP TABLE x"}, False),
    ],
)
def test_calls_of_tools(tool: str, given: dict[str, Any], found: bool) -> None:
    assert tool_destroys(tool, given, parse_shell) is found
