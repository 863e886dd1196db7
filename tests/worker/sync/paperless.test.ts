import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { startPaperless } from "../../doubles/paperless-server.ts";
import type { PaperlessServer } from "../../doubles/paperless-server.ts";
import { describeOn } from "../../support/describe-on.ts";
import { startSyncedSource } from "../../support/synced-source.ts";
import type { SyncedSource } from "../../support/synced-source.ts";

const TOKEN = "0123456789abcdef";
const REMOTE = { secret_env: "PAPERLESS_TOKEN", allowed_networks: ["127.0.0.1"], timeout_s: 5 };

describeOn("postgres", "the originals of paperless-ngx", () => {
  let paperless: PaperlessServer;
  let cloud: SyncedSource;
  const open = (token: string) =>
    startSyncedSource("paperless", { ...REMOTE, url: paperless.url }, { PAPERLESS_TOKEN: token });

  beforeAll(async () => {
    paperless = await startPaperless(TOKEN);
    paperless.names.correspondents.push({ id: 7, name: "Stadtwerke Musterstadt" });
    paperless.names.tags.push({ id: 3, name: "power" }, { id: 4, name: "2026" });
    paperless.add(
      { title: "Bill", correspondent: 7, tags: [3], created: "2026-02-01" },
      "The bill.",
    );
    paperless.add(
      { original_file_name: "../../etc/Letter.TXT", title: "a\u001b[2J\u0000b\u202e\n c" },
      "A letter.",
    );
    paperless.add({ original_file_name: null, title: "No name" }, "A note.");
    paperless.add({ original_file_name: "virus.exe" }, "MZ");
    cloud = await open(TOKEN);
  });
  beforeEach(() => {
    paperless.fault = undefined;
    paperless.requests.length = 0;
  });
  afterAll(async () => {
    await cloud.stop();
    await paperless.close();
  });

  const documents = async () =>
    (
      await cloud.db.query(
        `select path, metadata->>'title' as title, metadata->>'correspondent' as correspondent, metadata->'tags' as tags,
                day::text as day, day_source from nightdesk.documents order by path`,
      )
    ).rows;

  test("are fetched by number, with what it says of them", async () => {
    await expect(cloud.sync()).resolves.toMatchObject({ listed: 4, fetched: 3, skipped: 1 });
    expect(await cloud.names()).toEqual(["1.txt", "2.txt", "3.txt"]);
    const file = join(cloud.topology.workroot, "allowed/cloud/2.txt");
    await expect(readFile(file, "utf8")).resolves.toBe("A letter.");
    const rows = await cloud.rows("name, fate, origin, kind, description");
    expect(rows[0]).toMatchObject({
      ...{ name: "1.txt", fate: "fetched", kind: "paperless" },
      origin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/documents\/1#2026-01-01T/),
      description: { title: "Bill", correspondent: "Stadtwerke Musterstadt", tags: ["power"] },
    });
    expect(rows[1]).toMatchObject({ name: "2.txt", description: { title: "a [2Jb c" } });
    expect(rows[3]).toMatchObject({ name: "4.exe", fate: "skipped" });
  });

  test("are indexed with title, correspondent, tags and day", async () => {
    await cloud.index();
    expect((await documents())[0]).toEqual({
      ...{ path: "allowed/cloud/1.txt", title: "Bill", correspondent: "Stadtwerke Musterstadt" },
      ...{ tags: ["power"], day: "2026-02-01", day_source: "properties" },
    });
  });

  test("are not fetched again for a bulk edit, which changes no time, and are indexed anew", async () => {
    Object.assign(paperless.documents.get(1) ?? {}, { tags: [3, 4] });
    await expect(cloud.sync()).resolves.toMatchObject({ fetched: 0, bytes: 0, described: 1 });
    await expect(cloud.index()).resolves.toMatchObject({ changed: 1, unchanged: 2 });
    expect((await documents())[0]).toMatchObject({ tags: ["2026", "power"] });
    await expect(cloud.sync()).resolves.toMatchObject({ fetched: 0, described: 0 });
  });

  test("are asked for by the older version of the API where the server speaks no other", async () => {
    paperless.versions = [9];
    await expect(cloud.sync()).resolves.toMatchObject({ listed: 4, fetched: 0 });
    paperless.versions = [8];
    await expect(cloud.sync()).resolves.toBe("SOURCE_INVALID");
    paperless.versions = [9, 10];
  });

  test("are not followed to another host, which would be sent the token", async () => {
    const other = await startPaperless(TOKEN);
    for (const next of [`${other.url}api/documents/?page=2`, "//localhost/x", "/elsewhere:80@x"]) {
      paperless.fault = (line) =>
        line.includes("/api/documents/")
          ? { json: { count: 4, next, results: [...paperless.documents.values()].slice(0, 2) } }
          : undefined;
      await expect(cloud.sync()).resolves.toMatch(/^SOURCE_/);
    }
    expect(other.requests).toEqual([]);
    expect(await cloud.names()).toHaveLength(3);
    await other.close();
  });

  test("stay where a listing is cut, repeats itself, or hides some", async () => {
    const [first, second] = [...paperless.documents.values()];
    const lies = [
      { count: 4, next: null, results: [first] },
      { count: 2, next: null, results: [second, first] },
      { count: 2, next: "/api/documents/?page=2", results: [] },
      { detail: "no list" },
      [],
    ];
    for (const json of lies) {
      paperless.fault = (line) => (line.includes("/api/documents/") ? { json } : undefined);
      await expect(cloud.sync()).resolves.toBe("SOURCE_INVALID");
    }
    paperless.fault = (line) => (line.includes("page=2") ? { cut: "before" } : undefined);
    await expect(cloud.sync()).resolves.toBe("SOURCE_UNAVAILABLE");
    let added = false;
    paperless.fault = (line) => {
      if (line.includes("/api/documents/") && line.includes("page=2") && !added) {
        added = true;
        paperless.documents.delete(1);
      }
      return undefined;
    };
    const [bill] = [...paperless.documents.values()];
    await expect(cloud.sync()).resolves.toBe("SOURCE_UNAVAILABLE");
    if (bill !== undefined) paperless.documents.set(1, bill);
    expect(await cloud.names()).toEqual(["1.txt", "2.txt", "3.txt"]);
  });

  test("stop at once at a wrong token, which stands nowhere", async () => {
    const wrong = await open("wrong-token");
    const settlement = await wrong.run();
    expect(settlement).toMatchObject({ kind: "failed", code: "SOURCE_DENIED" });
    expect(JSON.stringify(settlement)).not.toContain("wrong-token");
    expect(paperless.requests).toHaveLength(1);
    await wrong.stop();
  });
});
