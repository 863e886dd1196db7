import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { HostPlace } from "../../src/shared/config/hosts.ts";
import type { Database, Queryable } from "../../src/shared/store/connection/database.ts";
import {
  chargeLostCalls,
  endCall,
  UNMADE_CALL,
  takeCall,
} from "../../src/shared/store/hosts/calls.ts";
import { chooseHost } from "../../src/shared/store/hosts/choose-host.ts";
import { enterHost } from "../../src/shared/store/hosts/hosts.ts";
import { listedPlace } from "../support/host-places.ts";
import { askJob, claimNext, countOf, expireLease, openBatchOf } from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const ORDER = [listedPlace("near", 0), listedPlace("far", 10), listedPlace("last", 20)];

describe.each(databases)("the choice of a host on %s", (name) => {
  let topology: Topology;
  const connections: Database[] = [];
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    for (let at = 0; at < 4; at += 1) connections.push(await topology.connect());
    db = at(0);
  });
  beforeEach(async () => {
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
  });
  afterAll(async () => {
    await Promise.all(connections.map((each) => each.end()));
    await topology.dispose();
  });
  /** Of several workers one. */
  const at = (index: number): Database => {
    const found = connections[index % connections.length];
    if (found === undefined) throw new Error("no connection");
    return found;
  };

  type Run = { readonly runId: string; readonly jobId: string };
  async function runs(count: number): Promise<readonly Run[]> {
    const jobs = Array.from({ length: count }, (_, index) => askJob(`${index}`));
    const { jobIds } = await openBatchOf(db, jobs);
    const claimed: Run[] = [];
    for (const jobId of jobIds) claimed.push({ jobId, runId: (await claimNext(db, jobId)).runId });
    return claimed;
  }
  const enter = async (places: readonly HostPlace[]) => {
    for (const place of places) await enterHost(db, place);
  };
  const choose = (
    runId: string | null,
    among: readonly HostPlace[] = ORDER,
    { by = db, tried = [] }: { readonly by?: Queryable; readonly tried?: readonly string[] } = {},
  ) => chooseHost(by, { runId, among, tried, longestWaitMs: 30_000 });
  const hostOf = async (chosen: ReturnType<typeof choose>) => (await chosen).detail;
  const take = (runId: string, host: string, by: Queryable = db) =>
    takeCall(by, { ticket: randomUUID(), runId, host }, null);
  const standing = (host: string, change: string) =>
    db.query(`update nightdesk_data.hosts set ${change} where host = $1`, [host]);
  /** Begins so many calls; those beyond the two slots wait. */
  const calls = async (host: string, count: number) => {
    for (const { runId } of await runs(count)) await take(runId, host);
  };
  const OPEN =
    "state = 'open', opened_at = now(), next_probe_at = now(), error_code = 'X', error_message = 'silent', failed_at = now()";
  const FAILED = "failures = 1, error_code = 'X', failed_at = clock_timestamp()";
  const PAUSED = "paused_until = clock_timestamp() + interval '1 minute'";

  describe("is the first", () => {
    const saving = [listedPlace("near", 0), listedPlace("far", 10, { takesOverflow: false })];
    type Standing = number | string;
    test.each<[string, readonly HostPlace[], Readonly<Record<string, Standing>>, string]>([
      ["while nobody calls any", ORDER, {}, "near"],
      ["while it has a slot", ORDER, { near: 1 }, "near"],
      ["that has a slot", ORDER, { near: 2 }, "far"],
      ["that has a slot, also with calls that wait", ORDER, { near: 4 }, "far"],
      ["of the next priority that has a slot", ORDER, { near: 2, far: 2 }, "last"],
      ["by priority where none has a slot", ORDER, { near: 4, far: 2, last: 3 }, "near"],
      ["that is to be used at all", saving, { near: 4 }, "near"],
      ["that is up", saving, { near: OPEN }, "far"],
      ["that is up, and has a slot", ORDER, { near: OPEN, far: 2 }, "last"],
      ["that did not fail a moment ago", ORDER, { near: 2, far: FAILED }, "last"],
      ["that may be called now", ORDER, { near: 2, far: PAUSED }, "last"],
      [
        "that failed a moment ago where no other is up",
        saving,
        { near: FAILED, far: OPEN },
        "near",
      ],
    ])("%s", async (_, among, standings, expected) => {
      await enter(among);
      for (const [host, now] of Object.entries(standings)) {
        if (typeof now === "number") await calls(host, now);
        else await standing(host, now);
      }
      expect(await hostOf(choose(null, among))).toBe(expected);
    });

    test("with the fewest calls for its slots among those of one priority", async () => {
      const equals = [listedPlace("one", 0), listedPlace("two", 0), listedPlace("far", 1)];
      await enter(equals);
      await calls("one", 1);
      expect(await hostOf(choose(null, equals))).toBe("two");
      await calls("one", 1);
      await calls("two", 1);
      expect(await hostOf(choose(null, equals))).toBe("two");
      await standing("one", "capacity = 8, most = 8");
      expect(await hostOf(choose(null, equals))).toBe("one");
      await standing("one", "capacity = 2");
      await calls("two", 1);
      expect(await hostOf(choose(null, equals))).toBe("far");
    });

    test("and none where each is down or paused, which is told in their order", async () => {
      await enter(ORDER);
      await standing("near", OPEN);
      for (const host of ["far", "last"]) await standing(host, PAUSED);
      const chosen = await choose(null);
      expect(chosen).toMatchObject({
        outcome: "closed",
        detail: [
          { host: "near", state: "open", error_message: "silent" },
          { host: "far", state: "closed" },
          { host: "last", state: "closed" },
        ],
      });
    });

    test("and asks for the rows of hosts that have none", async () => {
      await enter(ORDER.slice(0, 1));
      const [run] = await runs(1);
      expect(await choose(run?.runId ?? "")).toEqual({
        outcome: "unknown",
        detail: ["far", "last"],
      });
      expect(await countOf(db, "nightdesk_data.host_choices")).toBe(0);
    });
  });

  test("by workers at the same moment gives each slot once, while another host has one", async () => {
    await enter(ORDER);
    const all = await runs(8);
    const chosen = await Promise.all(
      all.map(({ runId }, index) => hostOf(choose(runId, ORDER, { by: at(index) }))),
    );
    // Six slots, and the two for which there is none wait for the first host.
    expect(chosen.sort()).toEqual([..."ffll"].map(longName).concat(Array(4).fill("near")));
    expect(await countOf(db, "nightdesk_data.host_slots where ticket is not null")).toBe(0);
  });
  const longName = (letter: string) => (letter === "f" ? "far" : "last");

  test("counts what another worker is choosing at this moment", async () => {
    const places = [listedPlace("near", 0), listedPlace("far", 10)].map((place) => ({
      ...place,
      parallel: 1,
    }));
    await enter(places);
    const [first, second] = await runs(2);
    let later: Promise<unknown> | undefined;
    await at(1).transaction(async (tx) => {
      expect(await hostOf(choose(first?.runId ?? "", places, { by: tx }))).toBe("near");
      later = hostOf(choose(second?.runId ?? "", places, { by: at(2) }));
    });
    expect(await later).toBe("far");
  });

  test("counts a call once while it begins, on whatever worker", async () => {
    const places = ORDER.map((place) => ({ ...place, parallel: 8 }));
    await enter(places);
    const all = await runs(12);
    await Promise.all(
      all.map(async ({ runId }, index) => {
        const by = at(index);
        const { detail: host } = await choose(runId, places, { by });
        if (typeof host !== "string") throw new Error("no host was chosen");
        expect(await take(runId, host, by)).toMatchObject({ outcome: "taken" });
      }),
    );
    const { rows } = await db.query(
      "select host, count(*)::int as calls from nightdesk_data.host_slots where ticket is not null group by 1 order by 1",
    );
    expect(rows).toEqual([
      { host: "far", calls: 4 },
      { host: "near", calls: 8 },
    ]);
    expect(await countOf(db, "nightdesk_data.host_choices")).toBe(0);
  });

  describe("of a run counts no more", () => {
    const only = [listedPlace("near", 0), listedPlace("far", 10)].map((place) => ({
      ...place,
      parallel: 1,
    }));
    async function chosenBy(): Promise<Run> {
      await enter(only);
      const [run] = await runs(1);
      if (run === undefined) throw new Error("no run");
      expect(await hostOf(choose(run.runId, only))).toBe("near");
      expect(await hostOf(choose(null, only))).toBe("far");
      return run;
    }

    test("when its call has ended", async () => {
      const { runId } = await chosenBy();
      const ticket = randomUUID();
      await takeCall(db, { ticket, runId, host: "near" }, null);
      expect(await hostOf(choose(null, only))).toBe("far");
      await endCall(db, ticket, UNMADE_CALL);
      expect(await hostOf(choose(null, only))).toBe("near");
    });

    test("when its call waits: that one counts", async () => {
      const { runId } = await chosenBy();
      const [other] = await runs(1);
      await take(other?.runId ?? "", "near");
      expect(await take(runId, "near")).toMatchObject({ outcome: "wait" });
      expect(await countOf(db, "nightdesk_data.host_choices")).toBe(0);
    });

    test("when its host was asked in vain", async () => {
      const { runId } = await chosenBy();
      const next = choose(runId, only.slice(1), { tried: ["near"] });
      expect(await hostOf(next)).toBe("far");
      expect(await hostOf(choose(null, only))).toBe("near");
    });

    test("when its worker is dead, and is then forgotten", async () => {
      const { jobId } = await chosenBy();
      await expireLease(db, jobId);
      expect(await hostOf(choose(null, only))).toBe("near");
      await chargeLostCalls(db);
      expect(await countOf(db, "nightdesk_data.host_choices")).toBe(0);
    });

    test("when it has begun no call for half a minute", async () => {
      await chosenBy();
      await db.query(
        "update nightdesk_data.host_choices set expires_at = expires_at - interval '30 s'",
      );
      expect(await hostOf(choose(null, only))).toBe("near");
      await chargeLostCalls(db);
      expect(await countOf(db, "nightdesk_data.host_choices")).toBe(0);
    });

    test("for its own next choice: it makes one call after the other", async () => {
      const { runId } = await chosenBy();
      expect(await hostOf(choose(runId, only))).toBe("near");
      expect(await countOf(db, "nightdesk_data.host_choices")).toBe(1);
    });
  });
});
