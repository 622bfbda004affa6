# `make run` and `make test` are the two commands to know; each sets up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HARDWARE := $(if $(shell command -v nvidia-smi 2>/dev/null),gpu,cpu)
PROFILE := profiles/$(if $(filter gpu,$(HARDWARE)),gpu,default)
GPUS := $(if $(filter gpu,$(HARDWARE)),--resources gpu=$(shell nvidia-smi -L | wc -l))
SNAKEMAKE := $(BIN)/snakemake --cores all --workflow-profile $(PROFILE) $(GPUS)
# Packages at the versions of constraints.txt; PIP_ARGS passes options to pip, such as another index.
# Compiling all modules would double the time; Python compiles those that it imports.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile $(PIP_ARGS) -c constraints.txt
SOURCES := npt baselines workflow performance tests

export OMP_WAIT_POLICY ?= PASSIVE
export NO_MKDOCS_2_WARNING := 1
# Bytecode is kept even where this is set, or each of the workflow's processes would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-cluster test-faults check docs archive format smoke paper clean-env

run: $(VENV)/.installed
	@$(SNAKEMAKE)

smoke: $(VENV)/.installed
	@$(SNAKEMAKE) --directory build/smoke --configfile workflow/configs/smoke.yaml

paper: $(VENV)/.installed
	@$(SNAKEMAKE) --configfile workflow/configs/paper.yaml

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder

# The workflow on a Slurm of one node, installed on this machine from Debian's packages (as root).
test-cluster: $(VENV)/.installed-test
	$(INSTALL) -e '.[$(HARDWARE),data,test,modern,xrfm,slurm,generic]'
	command -v slurmctld munged >/dev/null || (apt-get update && apt-get install -y --no-install-recommends munge slurmctld slurmd slurm-client)
	NPT_TEST_CLUSTER=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest tests/cluster

# Full disks and truncated files, for some minutes.
test-faults: $(VENV)/.installed-test
	NPT_TEST_FAULTS=1 $(BIN)/python -m pytest tests/faults

check: $(VENV)/.installed-test
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/python .ci/tokens.py
	$(BIN)/pyright --pythonpath $(BIN)/python --project pyproject.toml
	$(BIN)/pyright --pythonpath $(BIN)/python --project .ci/pyright-npt.json
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(BIN)/snakemake --lint
	if [ -x $(BIN)/mkdocs ]; then EXECUTE_TUTORIALS=false $(BIN)/mkdocs build --strict --site-dir build/site-check; fi

# The site in build/site, with its tutorials executed.
docs: $(VENV)/.installed
	$(INSTALL) -e '.[$(HARDWARE),data,docs]'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/mkdocs build --strict

# The committed rows of a revision for an archive; a revision always gives the same bytes.
archive:
	mkdir -p build
	git archive --format=zip --prefix=npt-benchmark-rows/ --output build/npt-benchmark-rows.zip HEAD \
		results/reference performance/results README.md CITATION.cff LICENSE docs

format: $(VENV)/.installed-test
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/snakefmt Snakefile workflow/Snakefile workflow/rules
	$(BIN)/python -m workflow.config

clean-env:
	rm -rf $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another with make PYTHON=python3.11")'
	@echo "setting up $(CURDIR)/$(VENV): a minute or two, 2 GB of packages"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) -e '.[$(HARDWARE),data]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@echo "adding the packages of the tests"
	@$(INSTALL) -e '.[$(HARDWARE),data,test,modern,xrfm]'
	@touch $@
