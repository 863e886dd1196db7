# What an image leaves out; `--build-arg OMIT=--omit=dev` takes the optional embedding runtime (470 MB) along.
ARG OMIT="--omit=dev --omit=optional"

FROM node:22-bookworm-slim AS build
ARG OMIT
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=optional
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY bin bin
COPY assets assets
COPY configs configs
COPY migrations migrations
RUN node scripts/build.js && npm pack --pack-destination /tmp
# What is packed is what runs, with the locked packages and without the compiler.
WORKDIR /app
RUN tar --extract --gzip --strip-components=1 --file=/tmp/nightdesk-*.tgz \
  && cp /build/package-lock.json /build/.npmrc . \
  && npm ci ${OMIT}

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app ./
# /papers: the documents, mounted read-only. /state: database, index and backups; a volume takes over whose it is.
RUN mkdir /papers /state && chown node /state && ln -s /app/bin/nightdesk.js /usr/local/bin/nightdesk
ENV NIGHTDESK_CONFIG=/app/configs/container.yaml
VOLUME /state
EXPOSE 8321
USER node
ENTRYPOINT ["node", "/app/bin/nightdesk.js"]
# All in one container; docker-compose.yml runs the same image beside Redis, Postgres and Ollama.
CMD ["up"]
