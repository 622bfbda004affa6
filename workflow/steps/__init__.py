"""One thin command per rule."""

import os

# Waiting threads that spin make busy machines ten times slower; libraries read this when they are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
