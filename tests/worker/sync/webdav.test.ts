import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { Server } from "node:http";
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { checkMirrors } from "../../../src/worker/doctor/check-sources.ts";
import { hasApache, startApacheDav } from "../../support/apache-dav.ts";
import type { DavServer } from "../../support/apache-dav.ts";
import { askJob, claimNext, countOf, openBatchOf } from "../../conformance/jobs.ts";
import { describeOn } from "../../support/describe-on.ts";
import { isExpected } from "../../support/expected-server.ts";
import { listen, listenBefore } from "../../support/http-relay.ts";
import type { Answer } from "../../support/http-relay.ts";
import { startSyncedSource } from "../../support/synced-source.ts";
import type { SyncedSource } from "../../support/synced-source.ts";

const SECRET = "correct horse";
const REMOTE = { user: "night", secret_env: "DAV_SECRET", allowed_networks: ["127.0.0.1"] };
const ENV = { DAV_SECRET: SECRET };

/** What Apache's clock shows of a file is older than a second, and its ETag strong. */
const OLD = new Date(Date.now() - 60_000);

test("Apache's mod_dav is there where everything is proved", () => {
  expect(hasApache || !isExpected("apache2")).toBe(true);
});

(hasApache ? describe : describe.skip)("a folder of Apache's mod_dav", () => {
  describeOn("postgres", "that is mirrored", () => {
    let dav: DavServer;
    let relay: Server;
    let cloud: SyncedSource;
    /** Requests that the server saw, and after how many bytes of an answer the relay hangs up. */
    let seen: string[] = [];
    let cut: ((method: string, gets: number) => number | undefined) | undefined;

    const doctor = async () =>
      (await checkMirrors(cloud.topology.context.config, cloud.db)).map(({ code }) => code);
    const put = async (name: string, content: string | Buffer): Promise<void> => {
      const file = join(dav.folder, name);
      await writeFile(file, content);
      await utimes(file, OLD, OLD);
    };

    beforeAll(async () => {
      dav = await startApacheDav(SECRET);
      const listening = await listenBefore(dav.url, async ({ method = "", headers }) => {
        seen.push(`${method} ${headers.range ?? ""}`.trim());
        return cut?.(method, seen.filter((line) => line.startsWith("GET")).length);
      });
      relay = listening.server;
      cloud = await startSyncedSource("webdav", { ...REMOTE, url: `${listening.url}/dav/` }, ENV);
    });
    afterAll(async () => {
      relay.close();
      await cloud.stop();
      await dav.stop();
    });

    test("is fetched once, and then not again", async () => {
      await mkdir(join(dav.folder, "letters & more/2026"), { recursive: true });
      await put("plan.md", "# Plan\nThe gate opens at 7.");
      await put("letters & more/2026/ä#1?.md", "composed");
      await put("letters & more/2026/a\u0308#1?.md", "decomposed");
      await put("LETTER.md", "upper");
      await put("letter.md", "lower");
      await put("program.exe", "no document");
      for (let at = 10; at < 40; at += 1) await put(`${at}.txt`, `note ${at}`);
      expect(await doctor()).toEqual(["DOCTOR_MIRROR_NONE"]);
      await expect(cloud.sync()).resolves.toMatchObject({
        ...{ listed: 36, fetched: 35, skipped: 1, deleted: 0, held: 0, waiting: 0 },
      });
      const names = await cloud.names();
      expect(names).toHaveLength(35);
      expect(new Set(names.map((name) => name.normalize("NFC").toLowerCase())).size).toBe(35);
      const sha256 = createHash("sha256").update("# Plan\nThe gate opens at 7.").digest("hex");
      await expect(cloud.rows("name, path, sha256, origin, fate, reason")).resolves.toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            ...{ name: "plan.md", path: "allowed/cloud/plan.md", sha256, fate: "fetched" },
            origin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/dav\/plan\.md#%22/),
          }),
          expect.objectContaining({ name: "program.exe", fate: "skipped", path: null }),
        ]),
      );
      seen = [];
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 0, bytes: 0, unchanged: 35 });
      expect(seen).toEqual(["PROPFIND", "PROPFIND", "PROPFIND"]);
    });

    test("is followed in what changes, moves and goes, and mended where it was lost", async () => {
      await put("plan.md", "# Plan\nThe gate opens at 8 now.");
      await rename(join(dav.folder, "10.txt"), join(dav.folder, "moved.txt"));
      await rm(join(dav.folder, "11.txt"));
      const mirror = join(cloud.topology.workroot, "allowed/cloud");
      await rm(join(mirror, "12.txt"));
      await writeFile(join(mirror, ".11.txt.part"), "what came of it before");
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 3, deleted: 2, unchanged: 31 });
      expect(await cloud.names()).toEqual(expect.arrayContaining(["12.txt", "moved.txt"]));
      expect(await cloud.names()).not.toContain("11.txt");
      expect(await readdir(mirror)).not.toContain(".11.txt.part");
      await expect(readFile(join(mirror, "plan.md"), "utf8")).resolves.toContain("8 now");
    });

    test("is resumed within a file where the connection is cut, also by a later job", async () => {
      const large = randomBytes(3_000_000);
      await put("large.txt", large);
      seen = [];
      cut = (method, gets) => (method === "GET" && gets < 3 ? 1_000_000 : undefined);
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1, bytes: 3_000_000 });
      expect(seen.filter((line) => line.startsWith("GET"))).toEqual([
        "GET",
        ...[
          expect.stringMatching(/^GET bytes=\d{6,7}-$/),
          expect.stringMatching(/^GET bytes=\d{6,7}-$/),
        ],
      ]);
      const file = join(cloud.topology.workroot, "allowed/cloud/large.txt");
      expect((await readFile(file)).equals(large)).toBe(true);
      const other = randomBytes(2_000_000);
      await put("other.txt", other);
      seen = [];
      cut = (method) => (method === "GET" ? 100_000 : undefined);
      await expect(cloud.sync()).resolves.toBe("SOURCE_UNAVAILABLE");
      expect(await cloud.names()).not.toContain("other.txt");
      [seen, cut] = [[], undefined];
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1 });
      expect(seen.at(-1)).toMatch(/^GET bytes=\d{6}-$/);
      const sha256 = createHash("sha256").update(other).digest("hex");
      expect(await cloud.rows("name, sha256")).toContainEqual({ name: "other.txt", sha256 });
      // Nothing stays of one that has changed before the rest is asked for.
      const changed = randomBytes(1_900_000);
      await put("other.txt", randomBytes(2_100_000));
      seen = [];
      cut = (method, gets) => {
        if (method === "GET" && gets === 2) writeFileSync(join(dav.folder, "other.txt"), changed);
        return method === "GET" && gets === 1 ? 100_000 : undefined;
      };
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1, bytes: 1_900_000 });
      const mirrored = join(cloud.topology.workroot, "allowed/cloud/other.txt");
      expect((await readFile(mirrored)).equals(changed)).toBe(true);
      cut = undefined;
    });

    test("loses nothing by a listing that is cut, and not much without consent", async () => {
      cut = () => 500;
      await expect(cloud.sync()).resolves.toBe("SOURCE_UNAVAILABLE");
      cut = undefined;
      for (let at = 20; at < 32; at += 1) await rm(join(dav.folder, `${at}.txt`));
      const before = await cloud.names();
      await expect(cloud.sync()).resolves.toMatchObject({ deleted: 0, held: 12 });
      expect(await cloud.names()).toEqual(before);
      expect(await doctor()).toEqual(["DOCTOR_MIRROR_HELD"]);
      await expect(cloud.sync({ accept_deletions: true })).resolves.toMatchObject({
        deleted: 12,
        held: 0,
      });
      expect(await doctor()).toEqual(["DOCTOR_MIRROR_OK"]);
      expect(await cloud.names()).toHaveLength(before.length - 12);
    });

    test("writes through no link, and over nothing that it has not written", async () => {
      const mirror = join(cloud.topology.workroot, "allowed/cloud");
      await symlink("/etc", join(mirror, "linked"));
      await writeFile(join(mirror, "mine.txt"), "of somebody here");
      await mkdir(join(dav.folder, "linked"));
      await put("linked/passwd.txt", "of there");
      await put("mine.txt", "of there");
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 2 });
      await expect(readFile(join(mirror, "mine.txt"), "utf8")).resolves.toBe("of somebody here");
      const names = await cloud.names();
      expect(names).toContainEqual(expect.stringMatching(/^mine~[0-9a-f]{8}\.txt$/));
      expect(names).toContainEqual(expect.stringMatching(/^passwd~[0-9a-f]{16}\.txt$/));
    });
  });
});

const entry = (href: string): string =>
  `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:getcontentlength>2</D:getcontentlength><D:getetag>"1"</D:getetag></D:prop></D:propstat></D:response>`;
const listing = (...hrefs: readonly string[]): string =>
  `<D:multistatus xmlns:D="DAV:"><D:response><D:href>/dav/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>${hrefs.map(entry).join("")}</D:multistatus>`;

describeOn("postgres", "a server of WebDAV that means harm", () => {
  let server: Server;
  let cloud: SyncedSource;
  let answer: Answer;

  beforeAll(async () => {
    const listening = await listen((asked, response) => {
      answer(asked, response);
    });
    server = listening.server;
    cloud = await startSyncedSource(
      "webdav",
      { ...REMOTE, url: `${listening.url}/dav/`, max_files: 9, max_mb: 2, mb_per_run: 1 },
      ENV,
    );
  });
  afterAll(async () => {
    server.close();
    await cloud.stop();
  });
  const lists =
    (xml: string): Answer =>
    (asked, response) => {
      response
        .writeHead(asked.method === "PROPFIND" ? 207 : 200)
        .end(asked.method === "PROPFIND" ? xml : "ok");
    };

  test.each([
    ["an address of another host", listing("http://evil.example/dav/a.txt")],
    ["a folder above", listing("/dav/../../etc/passwd.txt")],
    ["a folder above, encoded", listing("/dav/%2e%2e/%2e%2e/etc/passwd.txt")],
    ["another user's folder", listing("/other/a.txt")],
    ["what lies deeper than it was asked for", listing("/dav/a/b.txt")],
    ["an entity", `<!DOCTYPE x [<!ENTITY a "b">]>${listing("/dav/a.txt")}`],
    ["a text without end", `<D:multistatus><D:response><D:href>${"a".repeat(200_000)}`],
    ["elements in elements", `${"<D:x>".repeat(100)}${"</D:x>".repeat(100)}`],
    ["half a listing", listing("/dav/a.txt").slice(0, 300)],
  ])("is not believed where it lists %s", async (_, xml) => {
    answer = lists(xml);
    await expect(cloud.sync()).resolves.toBe("SOURCE_INVALID");
    await expect(cloud.rows("sha256")).resolves.not.toContainEqual({ sha256: expect.any(String) });
  });

  test.each([
    ["SOURCE_DENIED", 401],
    ["SOURCE_DENIED", 403],
    ["SOURCE_DENIED", 302],
    ["SOURCE_UNAVAILABLE", 503],
    ["SOURCE_INVALID", 404],
  ])("ends a job with %s by status %i", async (code, status) => {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      response.writeHead(status, { location: "http://169.254.169.254/" }).end();
    };
    await expect(cloud.run()).resolves.toMatchObject({
      kind: code === "SOURCE_UNAVAILABLE" ? "parked" : "failed",
      code,
    });
    expect(asked).toBe(code === "SOURCE_UNAVAILABLE" ? 4 : 1);
  });

  test("has its names made harmless, and not more of its files taken than a mirror may hold", async () => {
    const hostile = [
      "%2e%2e%2fup.txt",
      ".hidden.txt",
      "a%00b.txt",
      "%0d%0alog.txt",
      "Re:%20%E4.txt",
      "back%5cslash.txt",
    ];
    const long = `${"%C3%BC".repeat(120)}.txt`;
    answer = lists(
      listing(...[...hostile, long, "x.txt", "y.txt", "z.txt"].map((name) => `/dav/${name}`)),
    );
    await expect(cloud.sync()).resolves.toMatchObject({ fetched: 9, skipped: 1 });
    const names = await cloud.names();
    expect(names).toEqual(
      expect.arrayContaining([
        ...["Re:%20%E4.txt", "__log.txt", "_hidden.txt", "a_b.txt", "back_slash.txt", "x.txt"],
        ...["__up.txt", expect.stringMatching(/^ü+~[0-9a-f]{8}\.txt$/)],
      ]),
    );
    for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    const skipped = (await cloud.rows("fate, reason")).filter((row) =>
      JSON.stringify(row).includes("skipped"),
    );
    expect(skipped).toEqual([
      { fate: "skipped", reason: "the mirror holds 9 files (remote.max_files)" },
    ]);
  });

  test("is asked for no more than a run may fetch", async () => {
    const large = listing("/dav/x.txt", "/dav/y.txt")
      .replaceAll(">2<", ">700000<")
      .replaceAll('"1"', '"2"');
    answer = (asked, response) => {
      if (asked.method === "PROPFIND") response.writeHead(207).end(large);
      else response.writeHead(200).end(Buffer.alloc(700_000, "x"));
    };
    await expect(cloud.sync({ accept_deletions: true })).resolves.toMatchObject({
      fetched: 1,
      waiting: 1,
    });
    await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1, unchanged: 1, waiting: 0 });
  });

  test("has no more bytes taken than a mirror may hold, and what lies there is looked for, and let go of", async () => {
    const serve = (version: string, names: readonly string[]) => {
      const xml = listing(...names)
        .replaceAll(">2<", ">600000<")
        .replaceAll('"1"', `"${version}"`);
      answer = (asked, response) => {
        if (asked.method === "PROPFIND") response.writeHead(207).end(xml);
        else response.writeHead(200).end(Buffer.alloc(600_000, "x"));
      };
    };
    // Of x and y 1.4 MB lie there, which their new versions replace: these wait for the next run.
    serve("3", ["/dav/u.txt", "/dav/v.txt", "/dav/x.txt", "/dav/y.txt"]);
    await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1, skipped: 1, waiting: 2 });
    const { rows } = await cloud.db.query(
      "select distinct reason from nightdesk_data.remote_files where fate = 'skipped'",
    );
    expect(rows).toEqual([{ reason: "the mirror would be larger than remote.max_mb" }]);
    // The same bytes under another version: what was lost here meanwhile is there again.
    const path = join(cloud.topology.workroot, "allowed/cloud/u.txt");
    await rm(path);
    serve("4", ["/dav/u.txt"]);
    await cloud.sync({ accept_deletions: true });
    expect((await stat(path)).size).toBe(600_000);
    // What is gone is to be indexed, also where nothing else changed.
    const indexJobs = () => countOf(cloud.db, "nightdesk_data.jobs where kind = 'index'");
    const before = await indexJobs();
    serve("4", []);
    expect(await cloud.sync()).toMatchObject({ fetched: 0, deleted: 1 });
    expect(await indexJobs()).toBe(before + 1);
    const opened = await Promise.all(
      (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
    );
    expect(opened.filter((target) => target.startsWith(cloud.topology.workroot))).toEqual([]);
  });

  test("has a file given up that is longer than a file may be, of which it told no size", async () => {
    const xml = listing("/dav/endless.txt").replaceAll(/<D:getcontentlength>2<[^>]*>/g, "");
    answer = (asked, response) => {
      if (asked.method === "PROPFIND") response.writeHead(207).end(xml);
      else for (let sent = 0; sent < 70; sent += 1) response.write(Buffer.alloc(1_000_000));
    };
    expect(await cloud.sync()).toMatchObject({ fetched: 0, skipped: 1 });
    expect(await cloud.rows("reason")).toContainEqual({
      reason: expect.stringContaining("security.max_file_bytes"),
    });
  });

  test("is indexed also where the run that changed the mirror could not go on", async () => {
    const indexJobs = () => countOf(cloud.db, "nightdesk_data.jobs where kind = 'index'");
    const before = await indexJobs();
    const xml = listing("/dav/p.txt", "/dav/q.txt");
    const serve = (statusOfQ: number) => {
      answer = (asked, response) => {
        if (asked.method === "PROPFIND") response.writeHead(207).end(xml);
        else response.writeHead(asked.url === "/dav/p.txt" ? 200 : statusOfQ).end("ok");
      };
    };
    serve(503);
    const { jobId, settlement } = await cloud.work({ kind: "sync", source: "cloud" });
    expect(settlement).toMatchObject({ kind: "parked", code: "SOURCE_UNAVAILABLE" });
    serve(404);
    const summary = { fetched: 0, deleted: 0, unchanged: 1, skipped: 1 };
    expect(await cloud.again(jobId)).toMatchObject({ kind: "succeeded", outcome: { summary } });
    expect(await indexJobs()).toBe(before + 1);
  });

  test("is indexed also where the run that changed the mirror failed for good", async () => {
    const indexJobs = () => countOf(cloud.db, "nightdesk_data.jobs where kind = 'index'");
    const before = await indexJobs();
    const xml = listing("/dav/r.txt", "/dav/s.txt");
    answer = (asked, response) => {
      if (asked.method === "PROPFIND") response.writeHead(207).end(xml);
      else response.writeHead(asked.url === "/dav/r.txt" ? 200 : 401).end("ok");
    };
    expect(await cloud.run()).toMatchObject({ kind: "failed", code: "SOURCE_DENIED" });
    expect(await indexJobs()).toBe(before + 1);
  });

  test("is left to the job that mirrors it now", async () => {
    answer = lists(listing());
    const { jobIds } = await openBatchOf(cloud.db, [askJob("runs")]);
    const { runId } = await claimNext(cloud.db, jobIds[0] ?? "");
    await cloud.db.query("update nightdesk_data.remote_sources set run_id = $1", [runId]);
    await expect(cloud.run()).resolves.toMatchObject({
      kind: "parked",
      code: "SOURCE_UNAVAILABLE",
    });
  });
});
