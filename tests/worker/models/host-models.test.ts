import { describe, expect, test } from "@jest/globals";
import type { HostPlace } from "../../../src/shared/config/hosts.ts";
import { Failure, HostFailure } from "../../../src/shared/failure.ts";
import { askFirstHost, IN_ORDER } from "../../../src/worker/models/host-models.ts";
import type { HostChoice } from "../../../src/worker/models/host-models.ts";
import { listedPlace } from "../../support/host-places.ts";

const { signal } = new AbortController();
const places = [listedPlace("near", 0), listedPlace("far", 10), listedPlace("last", 20)];

/** What each host gives: what it is, unless it throws. */
const asking =
  (faults: Readonly<Record<string, Error>>) =>
  async ({ host }: HostPlace) => {
    const fault = faults[host];
    if (fault !== undefined) throw fault;
    return host;
  };
const down = (host: string) => new HostFailure("MODEL_UNREACHABLE", `${host} is silent`, { host });
const missing = new Failure("MODEL_NOT_FOUND", "no such model");

/** A choice in the order of the hosts, with what it was asked and told. */
function watched(): HostChoice & { readonly asked: string[]; readonly failures: string[] } {
  const asked: string[] = [];
  const failures: string[] = [];
  return {
    asked,
    failures,
    choose(among, tried) {
      asked.push(`${among.map(({ host }) => host).join(" ")} | ${tried.join(" ")}`);
      return IN_ORDER.choose(among, tried);
    },
    async failed({ host }) {
      failures.push(host);
    },
  };
}

describe("a model of several hosts", () => {
  test("is asked for at the host that is chosen", async () => {
    const choice = {
      ...IN_ORDER,
      choose: async () => ({ outcome: "chosen" as const, host: "far" }),
    };
    const answer = await askFirstHost("m", places, { ask: asking({}), choice }, signal);
    expect(answer).toEqual({ given: "far", host: "far", others: 2 });
  });

  test("is asked for at another one that is chosen where a host is not reached, or does not have it", async () => {
    const choice = watched();
    const ask = asking({ near: down("near"), far: missing });
    const answer = await askFirstHost("m", places, { ask, choice }, signal);
    expect(answer).toEqual({ given: "last", host: "last", others: 2 });
    expect(choice.asked).toEqual(["near far last | ", "far last | near", "last | near far"]);
    expect(choice.failures).toEqual(["near"]);
  });

  test("fails with the host that came first where none is reached", async () => {
    const choice = watched();
    const ask = asking({ near: down("near"), far: down("far"), last: missing });
    const answer = askFirstHost("m", places, { ask, choice }, signal);
    await expect(answer).rejects.toMatchObject({ code: "MODEL_UNREACHABLE", host: "near" });
    expect(choice.failures).toEqual(["far"]);
  });

  test("fails with what is known of a host where none is to be called now", async () => {
    const at = new Date("2026-11-26T20:00:00Z");
    const near = { state: "open", error_message: "silent", next_probe_at: at, paused_ms: 0 };
    const far = { state: "closed", error_message: null, next_probe_at: null, paused_ms: 90_000 };
    const closed = (...hosts: object[]): HostChoice => ({
      ...IN_ORDER,
      choose: async () => ({ outcome: "closed", hosts }) as never,
    });
    const ask = asking({});
    const failing = (choice: HostChoice) => askFirstHost("m", places, { ask, choice }, signal);
    await expect(failing(closed({ host: "near", ...near }))).rejects.toMatchObject({
      code: "MODEL_UNREACHABLE",
      message: "near is down, and is asked again at 2026-11-26T20:00:00.000Z. silent",
    });
    await expect(failing(closed({ host: "far", ...far }))).rejects.toMatchObject({
      code: "MODEL_OVERLOADED",
      retryAfterMs: 90_000,
    });
  });

  test("is not found where no host has it", async () => {
    const ask = asking({ near: missing, far: missing, last: missing });
    const answer = askFirstHost("m", places, { ask, choice: IN_ORDER }, signal);
    await expect(answer).rejects.toMatchObject({
      code: "MODEL_NOT_FOUND",
      message: expect.stringContaining("near, far, last"),
    });
  });

  test("that one of them serves is asked for there, and nothing is chosen", async () => {
    const choice = watched();
    const others = [
      listedPlace("near", 0, { models: new Map() }),
      listedPlace("far", 10, { models: new Map([["m", "weights"]]) }),
    ];
    const ask = async (_: HostPlace, nameThere: string) => nameThere;
    const answer = await askFirstHost("m", others, { ask, choice }, signal);
    expect(answer).toEqual({ given: "weights", host: "far", others: 0 });
    expect(choice.asked).toEqual([]);
  });
});
