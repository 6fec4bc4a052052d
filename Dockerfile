# SPDX-License-Identifier: Apache-2.0
# An image with the command line, the demos and the C library for the host:
#   docker build -t newel . && docker run --rm -v "$PWD":/data newel solve /data/A.mtx
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    g++ cmake ninja-build zlib1g-dev libcli11-dev nlohmann-json3-dev libmetis-dev libeigen3-dev
COPY . /source
RUN cmake -S /source -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/newel \
    -DNEWEL_CUDA=OFF -DNEWEL_FORTRAN=OFF -DNEWEL_MPI=OFF -DNEWEL_BUILD_TESTS=OFF -DNEWEL_BUILD_EXAMPLES=OFF \
    -DNEWEL_BUILD_BENCHMARKS=OFF && cmake --build /build && cmake --install /build

FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends zlib1g libmetis5 libgomp1 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/newel /opt/newel
ENV PATH=/opt/newel/bin:$PATH
ENTRYPOINT ["newel"]
