import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import {
  checkout,
  findService,
  parseCompose,
  readCompose,
  resolveCommand,
  resolveHealthcheck,
} from "./compose-file.ts";

// The Compose Specification's own schema, as a package ships it.
const schemaFile = join(checkout, "node_modules/dclint/schemas/compose.schema.json");

function validate(value: unknown): string[] {
  const schema = JSON.parse(readFileSync(schemaFile, "utf8")) as Record<string, unknown>;
  // Its $schema is draft 7 by https, which ajv knows by http only.
  delete schema["$schema"];
  const check = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  check(value);
  return (check.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath} ${message ?? ""}`,
  );
}

describe("the published schema", () => {
  test("accepts the compose file", () => {
    expect(validate(parseCompose())).toEqual([]);
  });

  test("catches a key that the specification does not know", () => {
    const compose = readCompose();
    const worker = { ...compose.services["worker"], helthcheck: {} };
    expect(validate({ services: { worker } })).not.toEqual([]);
  });
});

describe("the services", () => {
  const { services, volumes, secrets } = readCompose();

  test("are Redis, Postgres, a model host, one migration, workers with and without files, and the dashboard", () => {
    expect(Object.keys(services).sort()).toEqual([
      "dashboard",
      "migrate",
      "ollama",
      "postgres",
      "redis",
      "worker",
      "worker-store",
    ]);
  });

  test("publish the dashboard alone, and on the loopback interface", () => {
    const published = Object.entries(services).flatMap(([name, { ports }]) =>
      ports.map((port) => `${name} ${port}`),
    );
    expect(published).toEqual(["dashboard 127.0.0.1:8321:8321"]);
  });

  test("give its token to the dashboard alone", () => {
    const holders = Object.entries(services).filter(([, service]) =>
      service.secrets.includes("dashboard_token"),
    );
    expect(holders.map(([name]) => name)).toEqual(["dashboard"]);
    expect(findService("dashboard").environment).toEqual({
      ...findService("worker").environment,
      NIGHTDESK_DASHBOARD_TOKEN_FILE: "/run/secrets/dashboard_token",
    });
  });

  test("let the worker run several times at once: it has no name, no port and no volume of its own", () => {
    const worker = findService("worker");
    expect(worker["container_name"]).toBeUndefined();
    expect(worker["hostname"]).toBeUndefined();
    expect(worker.ports).toEqual([]);
    expect(worker.volumes.filter((volume) => !volume.endsWith(":ro"))).toEqual([]);
  });

  test("give the documents to no worker that reads from the store", async () => {
    const { volumes, environment, depends_on } = findService("worker-store");
    expect(volumes).toEqual([]);
    expect(depends_on).toEqual(findService("worker").depends_on);
    const flags = { config: join(checkout, environment["NIGHTDESK_CONFIG"] ?? "") };
    const env = { NIGHTDESK_WORKROOT: checkout, DATABASE_URL: "postgres://postgres/nightdesk" };
    const { documents } = await loadConfig({ flags, env, cwd: checkout, packageRoot: checkout });
    expect(documents).toMatchObject({ from: "store", keep: "bytes" });
  });

  test("keep their data in volumes that are declared", () => {
    const data = ["redis", "postgres", "ollama"].map((name) => findService(name).volumes);
    expect(data).toEqual([
      ["redis:/data"],
      [
        "postgres:/var/lib/postgresql/data",
        "./deploy/compose/create-role.sh:/docker-entrypoint-initdb.d/create-role.sh:ro",
      ],
      ["ollama:/root/.ollama"],
    ]);
    expect(Object.keys(volumes).sort()).toEqual(["ollama", "postgres", "redis"]);
  });

  test("use only secrets that are declared, and hold none themselves", () => {
    const used = Object.values(services).flatMap((service) => service.secrets);
    expect(used.filter((name) => !(name in secrets))).toEqual([]);
    const values = Object.values(services).flatMap(({ environment }) =>
      Object.entries(environment),
    );
    expect(values.filter(([key]) => /PASSWORD$|^DATABASE_URL$/.test(key))).toEqual([]);
  });

  test("share a network only where one asks the other", () => {
    const together = (one: string, other: string) =>
      findService(one).networks.filter((name) => findService(other).networks.includes(name));
    for (const [one, other] of [
      ["redis", "ollama"],
      ["postgres", "ollama"],
      ["redis", "postgres"],
    ] as const) {
      expect([one, other, together(one, other)]).toEqual([one, other, []]);
    }
    for (const name of ["redis", "postgres", "ollama"]) {
      expect([name, together("worker", name).length]).toEqual([name, 1]);
    }
  });

  test("wait for one another: Postgres, then the migration, then the worker", () => {
    expect(findService("migrate").depends_on).toEqual({
      postgres: { condition: "service_healthy" },
    });
    expect(findService("worker").depends_on).toEqual({
      migrate: { condition: "service_completed_successfully" },
      redis: { condition: "service_healthy" },
      ollama: { condition: "service_started" },
    });
  });

  test("that are waited for in health have a healthcheck", () => {
    for (const service of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(service.depends_on)) {
        if (condition === "service_healthy")
          expect(resolveHealthcheck(findService(name))).not.toEqual([]);
      }
    }
  });

  test("of our image run files of the checkout with a configuration that is there", () => {
    for (const name of ["migrate", "worker", "worker-store", "dashboard"]) {
      const service = findService(name);
      const commands = [
        resolveCommand(service),
        ...(name === "worker" ? [resolveHealthcheck(service)] : []),
      ];
      for (const [program, script] of commands) {
        expect(program).toBe("node");
        expect(existsSync(join(checkout, script?.replace(/^\/app\//, "") ?? "missing"))).toBe(true);
      }
      expect(existsSync(join(checkout, service.environment["NIGHTDESK_CONFIG"] ?? "missing"))).toBe(
        true,
      );
    }
  });
});

describe("the image", () => {
  const dockerfile = readFileSync(join(checkout, "Dockerfile"), "utf8");
  const finalStage = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));

  test("runs as a user without privileges", () => {
    expect(/^USER (.*)$/m.exec(finalStage)?.[1]).toBe("node");
  });

  test("leaves development packages and the compiler behind", () => {
    expect(dockerfile).toMatch(/ARG OMIT="--omit=dev --omit=optional"/);
    expect(dockerfile).toMatch(/npm pack/);
    expect(finalStage).not.toMatch(/npm|scripts|src/);
    const { dependencies } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    expect(Object.keys(dependencies).filter((name) => /^(typescript|@types\/)/.test(name))).toEqual(
      [],
    );
  });

  test("takes only files that the build context lets through", () => {
    const ignored = readFileSync(join(checkout, ".dockerignore"), "utf8").split("\n");
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files]) =>
      (files ?? "").split(" "),
    );
    expect(copied.length).toBeGreaterThan(8);
    expect(copied.filter((file) => !ignored.includes(`!${file}`))).toEqual([]);
    expect(ignored).toContain("*");
  });
});
