#!/usr/bin/env bash
# A Slurm of one node on this machine, with four pretend processors and a pretend GPU: munged, slurmctld and slurmd of
# Debian's packages, without systemd and without accounting. Run as root; `slurm_down.sh` stops it.
set -euo pipefail
host=$(hostname -s)
memory=$(awk '/MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)

until_true() {
  for _ in $(seq 60); do "$@" >/dev/null 2>&1 && return 0; sleep 0.5; done
  echo "timed out: $*" >&2
  return 1
}
munge_answers() { munge -n 2>/dev/null | unmunge >/dev/null 2>&1; }
controller_is_up() { scontrol ping | grep -q 'is UP'; }
node_is_up() { sinfo -h -o %T | grep -qE '^(idle|mixed|allocated)$'; }

install -d -o munge -g munge -m 0755 /run/munge
munge_answers || runuser -u munge -- /usr/sbin/munged --force
until_true munge_answers

install -d -o slurm -g slurm -m 0755 /var/spool/slurmctld /var/log/slurm
install -d -m 0755 /var/spool/slurmd
cat >/etc/slurm/slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=slurm
AuthType=auth/munge
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmdSpoolDir=/var/spool/slurmd
StateSaveLocation=/var/spool/slurmctld
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SwitchType=switch/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MinJobAge=600
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=$memory Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
echo "NodeName=$host Name=gpu Count=1 File=/dev/null" >/etc/slurm/gres.conf

controller_is_up 2>/dev/null || /usr/sbin/slurmctld
until_true controller_is_up
pgrep -x slurmd >/dev/null || /usr/sbin/slurmd
until_true node_is_up
