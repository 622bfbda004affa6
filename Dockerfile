# The workflow with all its packages: for a CPU, or with --build-arg HARDWARE=gpu for NVIDIA GPUs.
#   docker build -t npt-benchmark . && docker run --rm -v "$PWD/results:/npt/results" npt-benchmark
FROM python:3.11-slim
ARG HARDWARE=cpu
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# Versions of Debian packages vanish from its mirrors, so they are not pinned.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /npt
COPY . .
RUN if [ "$HARDWARE" = gpu ]; then index=https://pypi.org/simple; else index="$TORCH_INDEX"; fi \
    && pip install --no-cache-dir --extra-index-url "$index" -c constraints.txt -e ".[$HARDWARE,data]"
ENV OMP_WAIT_POLICY=PASSIVE
ENTRYPOINT ["snakemake", "--workflow-profile", "profiles/default"]
CMD ["--cores", "all"]
