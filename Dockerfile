# Lockstep in a container, for machines that are no Linux: docs/how-to/try-in-a-container.md
#
#   docker build -t lockstep .
#   docker run --rm -it -v "$PWD/assignments:/lockstep/assignments" lockstep
#
# What is installed is up to harness/setup.sh, as everywhere. BASE: any Debian from 12 or Ubuntu from 24.04.
ARG BASE=debian:bookworm-slim

# All that set-up installs. The dev container ends here, and its own checkout brings the rest.
FROM ${BASE} AS tools
ENV LANG=C.UTF-8
WORKDIR /lockstep
COPY harness/setup.sh harness/nvcc-requirements.txt harness/
COPY grader/requirements.txt grader/constraints.txt grader/
RUN harness/setup.sh && rm -rf /var/lib/apt/lists/* /root/.cache

FROM tools
COPY . .
RUN make build
ENV PATH=/lockstep:/lockstep/.venv/bin:$PATH
CMD ["bash"]
