import { describe, expect, test } from "@jest/globals";
import type { HostEntry, HostPlace } from "../../../src/shared/config/hosts.ts";
import { HostFailure } from "../../../src/shared/failure.ts";
import type { HostStanding } from "../../../src/shared/store/hosts/hosts.ts";
import { openPendingCalls } from "../../../src/worker/hosts/pending-calls.ts";
import { askFirstHost, UNKNOWN_STANDINGS } from "../../../src/worker/models/host-models.ts";
import type { HostChoice } from "../../../src/worker/models/host-models.ts";

const { signal } = new AbortController();

const place = (host: string, priority: number, more: Partial<HostEntry> = {}): HostPlace => ({
  ...{ host, provider: "openai-compatible", parallel: 2 },
  entry: {
    ...{ name: host, kind: "openai", priority, takesOverflow: true, api: "chat", models: null },
    ...{ requestsPerMinute: null, tokensPerMinute: null, priceIn: null, priceOut: null },
    ...more,
  },
});

/** How a host with two slots stands that has so many calls. */
const standing = (host: string, calls: number, more: Partial<HostStanding> = {}): HostStanding => ({
  ...{ host, calls, capacity: 2, state: "closed", error_message: null },
  ...{ next_probe_at: null, failed_lately: false, paused_ms: 0 },
  ...more,
});

/** The host that a run is given, of which nothing but that is asked. */
async function chosen(
  places: readonly HostPlace[],
  standings: readonly HostStanding[],
  choice: Partial<HostChoice> = {},
): Promise<string> {
  const known = { ...UNKNOWN_STANDINGS, standings: async () => standings, ...choice };
  const asking = { ask: async () => "given", choice: known };
  return (await askFirstHost("m", places, asking, signal)).host;
}

describe("of several hosts the first is asked", () => {
  const places = [place("near", 0), place("far", 10), place("last", 20)];
  const saving = [place("near", 0), place("far", 10, { takesOverflow: false })];

  test.each<[string, readonly HostPlace[], readonly HostStanding[], string]>([
    ["while nothing is known of any", places, [], "near"],
    ["while it has a slot", places, [standing("near", 1), standing("far", 0)], "near"],
    ["that has a slot", places, [standing("near", 2)], "far"],
    ["that has a slot, also with calls that wait", places, [standing("near", 5)], "far"],
    [
      "of the next priority that has a slot",
      places,
      [standing("near", 2), standing("far", 2)],
      "last",
    ],
    [
      "that comes first by priority where none has a slot",
      places,
      [standing("near", 6), standing("far", 2), standing("last", 3)],
      "near",
    ],
    ["that is to be used at all", saving, [standing("near", 9)], "near"],
    ["that is up", saving, [standing("near", 0, { state: "open" })], "far"],
    [
      "that is up, where a host that is down has no calls",
      places,
      [standing("near", 0, { state: "open" }), standing("far", 2)],
      "last",
    ],
    [
      "that did not fail a moment ago",
      places,
      [standing("near", 2), standing("far", 0, { failed_lately: true })],
      "last",
    ],
    [
      "that may be called now",
      places,
      [standing("near", 2), standing("far", 0, { paused_ms: 60_000 })],
      "last",
    ],
  ])("%s", async (_, hosts, standings, expected) => {
    expect(await chosen(hosts, standings)).toBe(expected);
  });

  test("with the fewest calls for its slots among those of one priority", async () => {
    const equals = [place("one", 0), place("two", 0), place("far", 1)];
    const load = (one: number, two: number) => [standing("one", one), standing("two", two)];
    expect(await chosen(equals, load(1, 0))).toBe("two");
    expect(await chosen(equals, load(2, 1))).toBe("two");
    expect(await chosen(equals, load(2, 2))).toBe("far");
    const larger = [standing("one", 3, { capacity: 8 }), standing("two", 1)];
    expect(await chosen(equals, larger)).toBe("one");
  });
});

describe("runs of one process that choose at the same moment", () => {
  const places = [place("near", 0), place("far", 10)];

  test("take no more slots of the first host than it has", async () => {
    const pending = openPendingCalls();
    const choice = { watchPending: pending.watch, expect: pending.expect };
    const hosts = await Promise.all(Array.from({ length: 5 }, () => chosen(places, [], choice)));
    expect(hosts).toEqual(["near", "near", "far", "far", "near"]);
  });

  test("count a call that begins while they read how hosts stand", async () => {
    const pending = openPendingCalls();
    const calls = (near: number) => [standing("near", near, { capacity: 1 }), standing("far", 0)];
    pending.expect("near");
    const choice = {
      watchPending: pending.watch,
      standings: async () => {
        const read = calls(0);
        pending.begin("near");
        return read;
      },
    };
    expect(await chosen(places, [], choice)).toBe("far");
  });

  test("are not counted where their host was not reached", async () => {
    const pending = openPendingCalls();
    const choice = { ...UNKNOWN_STANDINGS, watchPending: pending.watch, expect: pending.expect };
    const ask = async ({ host }: HostPlace) => {
      if (host === "near") throw new HostFailure("MODEL_UNREACHABLE", "down", { host });
      return "given";
    };
    const { host, noCall } = await askFirstHost("m", places, { ask, choice }, signal);
    expect(host).toBe("far");
    expect([pending.watch()("near"), pending.watch()("far")]).toEqual([0, 1]);
    noCall();
    expect(pending.watch()("far")).toBe(0);
  });
});
