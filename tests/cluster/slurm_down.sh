#!/usr/bin/env bash
# Stop what slurm_up.sh started.
scontrol shutdown 2>/dev/null
for file in /run/slurmctld.pid /run/slurmd.pid /run/munge/munged.pid; do
  [ -s "$file" ] || continue
  process=$(cat "$file")
  kill "$process" 2>/dev/null
  for _ in $(seq 40); do kill -0 "$process" 2>/dev/null || break; sleep 0.25; done
done
true
