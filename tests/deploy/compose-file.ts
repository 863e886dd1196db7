import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { z } from "zod";

/** The checkout, which stands for the image's /app. */
export const checkout = fileURLToPath(new URL("../..", import.meta.url));

const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z.looseObject({ test: z.tuple([z.string()], z.string()) }).optional(),
  depends_on: z.record(z.string(), z.looseObject({ condition: z.string() })).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  networks: z.array(z.string()).default(["default"]),
});

const composeSchema = z.looseObject({
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.looseObject({ file: z.string() })),
});

export type Service = z.infer<typeof serviceSchema>;
export type ComposeFile = z.infer<typeof composeSchema>;

/** The compose file as plain data, its merge keys resolved as Docker resolves them. */
export function parseCompose(): unknown {
  // A dollar sign that Docker leaves alone stands there twice.
  const text = readFileSync(join(checkout, "docker-compose.yml"), "utf8").replaceAll("$$", "$");
  return parse(text, { merge: true }) as unknown;
}

/** The parts of the compose file that the tests look at. */
export function readCompose(): ComposeFile {
  return composeSchema.parse(parseCompose());
}

export function findService(name: string): Service {
  const service = readCompose().services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service "${name}"`);
  return service;
}

/** What a container of our image runs for a service: the image's entry point, then the service's command. */
export function resolveCommand(service: Service): string[] {
  return [...readEntrypoint(), ...(service.command ?? [])];
}

/** What Docker runs to learn whether a container is healthy; a shell line runs in the shell. */
export function resolveHealthcheck(service: Service): string[] {
  if (service.healthcheck === undefined) throw new Error(`${service.image} has no healthcheck`);
  const [form, ...words] = service.healthcheck.test;
  if (form === "CMD") return words;
  if (form === "CMD-SHELL") return ["/bin/sh", "-c", ...words];
  throw new Error(`expected a healthcheck of the form CMD or CMD-SHELL, got ${form}`);
}

function readEntrypoint(): string[] {
  const dockerfile = readFileSync(join(checkout, "Dockerfile"), "utf8");
  const line = /^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1];
  return z.array(z.string()).parse(JSON.parse(line ?? "null"));
}
