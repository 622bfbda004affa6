#!/bin/sh
# The state of a Slurm job, as Snakemake wants it: running, success or failed.
state=$(scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | head -1)
case "$state" in
  COMPLETED) echo success ;;
  PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | REQUEUED | RESIZING) echo running ;;
  *) echo failed ;;
esac
