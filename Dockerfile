# One process of Conclave. Build from the root of the repository; APP is a folder of apps/:
#   docker build -t conclave .
#   docker build -t conclave-planner --build-arg APP=planner .
# Everything but the last lines is the same for every app, so it is built once for all images.
ARG BASE=node:24-slim

FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && node tools/build.mjs apps
RUN node deploy/runtime-packages.mjs /runtime \
  && mkdir /runtime/node_modules/@conclave && ln -s ../../apps/precision-tools /runtime/node_modules/@conclave/app-precision-tools

# Exact mathematics: one version of SymPy, in a separate environment without pip.
FROM ${BASE} AS sympy
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv && python3 -m venv /opt/sympy \
  && /opt/sympy/bin/pip install --no-cache-dir sympy==1.14.0 mpmath==1.3.0 && /opt/sympy/bin/pip uninstall -y pip setuptools \
  && find /opt/sympy -type d -name tests -prune -exec rm -rf {} +

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends python3 && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY --from=sympy /opt/sympy /opt/sympy
# The math capability uses the first python3 on PATH and its SymPy.
ENV PATH=/opt/sympy/bin:$PATH
WORKDIR /app
COPY --from=build /src/package.json ./
COPY --from=build /runtime/node_modules ./node_modules
COPY --from=build /src/apps/precision-tools/package.json ./apps/precision-tools/
COPY --from=build /src/dist ./dist
# Fills the compile cache, so that no program is compiled at a start. Importing the files with a digest in their names has no other effect.
ENV NODE_COMPILE_CACHE=/app/compile-cache
RUN for file in dist/*-????????.js; do echo "await import('./$file');"; done | node --input-type=module && mkdir /data && chown 1000:1000 /data
# By number, so that a cluster can see that the user is not root. Only /data and /tmp are written, so the root may be read-only.
USER 1000:1000
ENV NODE_ENV=production
# Other machines can reach a gateway, so every request needs a key: the first start creates one and writes it to this file.
ENV CONCLAVE_HOME=/data HOST=0.0.0.0 CONCLAVE_ADMIN_KEY_FILE=/data/admin.key
VOLUME /data
EXPOSE 8080
ARG APP=standalone
ENV CONCLAVE_APP=${APP}
CMD ["sh", "-c", "exec node dist/$CONCLAVE_APP.js"]
