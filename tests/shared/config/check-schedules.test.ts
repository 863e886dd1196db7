import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import { showConfig } from "../../../src/shared/config/show-config.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..", "..");

describe("schedules and the hook in a configuration", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nightdesk-config-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function load(values: Readonly<Record<string, unknown>>) {
    const file = join(folder, "nightdesk.yaml");
    await writeFile(file, stringify({ extends: "nightdesk:embedded", ...values }));
    return loadConfig({ flags: { config: file }, env: {}, cwd: folder, packageRoot });
  }
  const schedule = (overrides: Readonly<Record<string, unknown>>) => ({
    schedules: [
      { name: "nightly", cron: "0 1 * * *", timezone: "UTC", command: ["index"], ...overrides },
    ],
  });

  test.each([
    [
      { command: ["index", "--rebiuld"] },
      'schedules.0.command of "nightly" (index --rebiuld) can\'t run: unknown option',
    ],
    [
      { command: ["worker"] },
      'schedules.0.command of "nightly" (worker) can\'t run: expected one of',
    ],
    [{ cron: "0 1" }, 'schedules.0.cron of "nightly" does not hold: "0 1" is no cron expression'],
    [{ timezone: "Berlin" }, 'schedules.0.timezone of "nightly" does not hold'],
    [{ catch_up: "once" }, 'schedules.0.catch_up of "nightly" is "once"; expected a duration'],
  ])("an entry with %j is named", async (overrides, message) => {
    await expect(load(schedule(overrides))).rejects.toMatchObject({
      code: "CONFIG_ERROR",
      message: expect.stringContaining(message),
    });
  });

  test("two of a name are one too many", async () => {
    const [entry] = schedule({}).schedules;
    await expect(load({ schedules: [entry, entry] })).rejects.toThrow(
      'schedules.1.name is "nightly" like an entry before',
    );
  });

  test("more than a hundred are refused before any of them is looked at", async () => {
    const entries = Array.from({ length: 101 }, (_, n) => ({
      ...schedule({}).schedules[0],
      name: `nightly-${n}`,
      cron: "no cron",
    }));
    await expect(load({ schedules: entries })).rejects.toThrow(
      "schedules is a list; expected at most 100 schedules",
    );
  });

  test("one that holds is taken", async () => {
    expect((await load(schedule({ catch_up: "2d" }))).schedules).toHaveLength(1);
  });

  test.each(["ftp://h/x", "hooks.example.com/s3cret"])(
    "a webhook %s is refused, and not shown",
    async (webhook) => {
      const refused = load({ on_batch_end: { webhook } });
      await expect(refused).rejects.toThrow(
        /on_batch_end\.webhook is (ftp:\/\/h\/)?\*\*\*; expected http/,
      );
    },
  );

  test.each([
    ["http://127.0.0.1:8080/s3cret", "loopback"],
    ["http://2130706433/s3cret", "loopback"],
    ["http://LOCALHOST/s3cret", "loopback"],
    ["https://[fd00::1]/s3cret", "private"],
    ["http://[::ffff:10.0.0.1]/s3cret", "private"],
    ["http://169.254.169.254/s3cret", "link-local"],
    ["http://224.0.0.1/s3cret", "multicast"],
  ])("a webhook at %s, a %s address, has to be configured", async (webhook, kind) => {
    const refused = load({ on_batch_end: { webhook } });
    await expect(refused).rejects.toThrow(`, a ${kind} address; expected a public one, or its`);
    await expect(refused).rejects.not.toThrow("s3cret");
    const allowed_networks = ["0.0.0.0/0", "::/0"];
    expect((await load({ on_batch_end: { webhook, allowed_networks } })).on_batch_end.webhook).toBe(
      webhook,
    );
  });

  test("a network that is none is named", async () => {
    await expect(
      load({ on_batch_end: { allowed_networks: ["10.0.0.0/8", "intranet"] } }),
    ).rejects.toThrow(
      'on_batch_end.allowed_networks.1 is "intranet"; expected an address or a network like',
    );
  });

  test.each(["whsec_", "s3cret", "whsec_c2hvcnQ=", "whsec_!".padEnd(60, "a")])(
    "%s is no secret of a webhook, and is not shown",
    async (secret) => {
      const refused = load({ on_batch_end: { secret } });
      await expect(refused).rejects.toThrow(
        /on_batch_end\.secret is no secret of Standard Webhooks/,
      );
      await expect(refused).rejects.not.toThrow(`"${secret}"`);
    },
  );

  test("the path of a webhook is not shown: it is often the only key", async () => {
    const config = await load({
      on_batch_end: { webhook: "https://user:pw@hooks.example.com/T0/s3cret?x=1" },
    });
    const shown = showConfig(config).find(({ key }) => key === "on_batch_end.webhook");
    expect(shown?.value).toBe("https://hooks.example.com/***");
  });
});
