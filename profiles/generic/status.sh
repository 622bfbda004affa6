#!/bin/sh
# State of a Slurm job, for Snakemake: running, success or failed. What cannot be told, as when the
# controller is out of reach, is running: a second job beside the first would write the same files.
case $(scontrol show job "$1" 2>&1) in
*JobState=COMPLETED*) echo success ;;
*JobState=PENDING* | *JobState=CONFIGURING* | *JobState=RUNNING* | *JobState=COMPLETING*) echo running ;;
*JobState=SUSPENDED* | *JobState=REQUEUED* | *JobState=PREEMPTED*) echo running ;;
*JobState=* | *"Invalid job id"*) echo failed ;;
*) echo running ;;
esac
