# What an image leaves out; `--build-arg OMIT=--omit=dev` takes the optional embedding runtime (470 MB) along.
ARG OMIT="--omit=dev --omit=optional"

FROM node:22-bookworm-slim AS build
ARG OMIT
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci ${OMIT}
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.js
# The compiler and its types have done their work.
RUN rm -rf node_modules/typescript node_modules/@types node_modules/.bin dist/.tsbuildinfo dist/.build-stamp

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY bin bin
COPY configs configs
COPY migrations migrations
USER node
ENTRYPOINT ["node", "/app/bin/nightdesk.js"]
CMD ["--help"]
