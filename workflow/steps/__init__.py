"""One thin command per rule."""

import os
import signal
import sys

# Waiting threads that spin make busy machines ten times slower; libraries read this when loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Ctrl-C while modules are loading ends a step without a traceback; `execute` takes over from there.
if sys.argv[0] == "-m":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
