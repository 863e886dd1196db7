import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { isSigned } from "../../support/aws-signature.ts";
import { selectResult } from "../../../src/shared/views/results.ts";
import { describeOn } from "../../support/describe-on.ts";
import { isExpected } from "../../support/expected-server.ts";
import { listenBefore } from "../../support/http-relay.ts";
import { hasMoto, startMoto } from "../../support/moto.ts";
import type { Bucket } from "../../support/moto.ts";
import { startSyncedSource } from "../../support/synced-source.ts";
import type { SyncedSource } from "../../support/synced-source.ts";

const remoteOf = (user: string, changes: Readonly<Record<string, unknown>>) => ({
  ...{ user, secret_env: "S3_SECRET", allowed_networks: ["127.0.0.1"] },
  ...changes,
});
const HOSTILE = [
  ...["docs/ä #1?+&='()*!~.md", "docs/a\u0308.md", "docs/ä.md", "docs/A.md", "docs/a.md"],
  ...[
    "docs//double.md",
    "docs/100%25.md",
    "docs/back\\slash.md",
    "docs/.hidden.md",
    "docs/x\ty.md",
  ],
];
const BUOY = "/attachments/1/buoy.txt";
const MAIL = [
  ...["From: a@example.net", "To: b@example.net", "Subject: Channel", "MIME-Version: 1.0"],
  ...['Content-Type: multipart/mixed; boundary="part"', "", "--part", "Content-Type: text/plain"],
  ...["", "See the note.", "--part", 'Content-Type: text/plain; name="buoy.txt"'],
  'Content-Disposition: attachment; filename="buoy.txt"',
  ...["", "The buoy of the northern channel is green.", "--part--", ""],
].join("\r\n");

test("moto's server of S3 is there where everything is proved", () => {
  expect(hasMoto || !isExpected("python3-moto")).toBe(true);
});

(hasMoto ? describe : describe.skip)("a bucket of moto", () => {
  describeOn("postgres", "that is mirrored", () => {
    let bucket: Bucket;
    let relay: Server;
    let cloud: SyncedSource;
    /** Requests that the bucket saw, and what is done before each and after how many bytes of its answer it is cut. */
    let seen: string[] = [];
    let before: ((gets: number) => number | undefined | Promise<undefined>) | undefined;
    const file = (name: string): string => join(cloud.topology.workroot, "allowed/cloud", name);

    beforeAll(async () => {
      bucket = await startMoto("night");
      const listening = await listenBefore(bucket.url, async (asked) => {
        const kind = asked.url?.includes("list-type") === true ? "LIST" : "GET";
        const signed = isSigned(asked, bucket.secret) ? "" : "with another signature";
        seen.push([kind, asked.headers.range, signed].filter(Boolean).join(" "));
        return before?.(seen.filter((line) => line.startsWith("GET")).length);
      });
      relay = listening.server;
      cloud = await startSyncedSource(
        "s3",
        remoteOf(bucket.user, { url: `${listening.url}/night/docs/` }),
        { S3_SECRET: bucket.secret },
      );
      for (let at = 1; at <= 500; at += 1) await bucket.put(`docs/${at}.txt`, `note ${at}`);
      for (const key of HOSTILE) await bucket.put(key, key);
    }, 120_000);
    afterEach(() => {
      [seen, before] = [[], undefined];
    });
    afterAll(async () => {
      relay.close();
      await cloud.stop();
      await bucket.stop();
    });

    test("is fetched once with correct signatures, and then not again", async () => {
      await bucket.put("elsewhere/secret.md", "not in the folder");
      await bucket.put("docs/program.exe", "no document");
      await expect(cloud.sync()).resolves.toMatchObject({
        ...{ listed: 511, fetched: 510, skipped: 1, deleted: 0, held: 0, waiting: 0 },
      });
      expect(new Set(seen)).toEqual(new Set(["LIST", "GET"]));
      expect(seen).toHaveLength(511);
      const names = (await cloud.names()).filter((name) => name.endsWith(".md"));
      expect(names).toHaveLength(HOSTILE.length);
      expect(names).toEqual(
        expect.arrayContaining([
          ...["ä #1?+&='()*!~.md", "_/double.md", "100%25.md", "back_slash.md", "_hidden.md"],
          ...["x_y.md", expect.stringMatching(/^[aA]~[0-9a-f]{8}\.md$/)],
        ]),
      );
      const contents = await Promise.all(names.map((name) => readFile(file(name), "utf8")));
      expect(contents.sort()).toEqual([...HOSTILE].sort());
      seen = [];
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 0, bytes: 0, unchanged: 510 });
      expect(seen).toEqual(["LIST"]);
    }, 240_000);

    test("has the version of each object as its origin, also after the object has changed", async () => {
      const originOf = async (name: string): Promise<string | undefined> => {
        const rows = (await cloud.rows("name, origin")) as { name: string; origin: string }[];
        return rows.find((row) => row.name === name)?.origin;
      };
      const first = await originOf("1.txt");
      expect(first).toMatch(/^s3:\/\/night\/docs\/1\.txt\?versionId=[\w-]+$/);
      const old = new URL(first ?? "").searchParams.get("versionId") ?? "";
      await bucket.put("docs/1.txt", "note 1, changed");
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1 });
      expect(await originOf("1.txt")).not.toBe(first);
      await expect(bucket.read("docs/1.txt", old)).resolves.toBe("note 1");
      const { rows } = await cloud.db.query(
        "select origin from nightdesk_data.remote_versions where path = 'allowed/cloud/1.txt' order by fetched_at",
      );
      expect(rows).toEqual([{ origin: first }, { origin: await originOf("1.txt") }]);
    });

    test("is followed in changes, moves and deletions while each tenth answer is cut", async () => {
      for (let at = 100; at < 200; at += 1) await bucket.put(`docs/${at}.txt`, `changed ${at}`);
      await bucket.put("docs/moved/200.txt", "note 200");
      for (const at of [200, 201, 202, 203]) await bucket.remove(`docs/${at}.txt`);
      // The first is the listing itself.
      before = () => (seen.length % 10 === 1 ? 3 : undefined);
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 101, deleted: 4, skipped: 1 });
      expect(seen.slice(0, 2)).toEqual(["LIST", "LIST"]);
      expect(seen.length).toBeGreaterThan(111);
      for (const at of [100, 150, 199])
        await expect(readFile(file(`${at}.txt`), "utf8")).resolves.toBe(`changed ${at}`);
      const names = await cloud.names();
      expect(names).toContain("moved/200.txt");
      expect(names.filter((name) => /^20[0-3]\.txt$/.test(name))).toEqual([]);
    }, 120_000);

    test("keeps its mirror when most of it is gone there at once", async () => {
      for (let at = 300; at <= 500; at += 1) await bucket.remove(`docs/${at}.txt`);
      const names = await cloud.names();
      await expect(cloud.sync()).resolves.toMatchObject({ deleted: 0, held: 201 });
      expect(await cloud.names()).toEqual(names);
    });

    test("is resumed where it was cut, and begun again where the object has changed meanwhile", async () => {
      const [large, other] = [randomBytes(3_000_000), randomBytes(3_000_000)];
      await bucket.put("docs/large.txt", large);
      before = (gets) => (gets < 3 ? 1_000_000 : undefined);
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1, bytes: 3_000_000 });
      const rest: unknown = expect.stringMatching(/^GET bytes=\d{6,7}-$/);
      expect(seen).toEqual(["LIST", "GET", rest, rest]);
      expect((await readFile(file("large.txt"))).equals(large)).toBe(true);
      seen = [];
      await bucket.put("docs/other.txt", large);
      before = (gets) =>
        gets === 2
          ? bucket.put("docs/other.txt", other).then(() => undefined)
          : gets === 1
            ? 1_000_000
            : undefined;
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 1 });
      expect(seen).toEqual(["LIST", "GET", rest, "GET"]);
      const digest = createHash("sha256").update(other).digest("hex");
      await expect(cloud.rows("sha256")).resolves.toContainEqual({ sha256: digest });
    });

    test("leaves out what is archived, marks of folders, and no object without a word", async () => {
      await bucket.put("docs/cold.txt", "cold", { "x-amz-storage-class": "DEEP_ARCHIVE" });
      await bucket.put("docs/folder/", "");
      await expect(cloud.sync()).resolves.toMatchObject({ fetched: 0, skipped: 2 });
      const rows = await cloud.rows("name, fate, reason");
      expect(rows).toContainEqual({
        ...{ name: "cold.txt", fate: "skipped", reason: expect.stringContaining("archived") },
      });
      expect(JSON.stringify(rows)).not.toContain("folder/");
    });
  });

  describeOn("postgres", "whose keys and rights are checked", () => {
    let bucket: Bucket;
    beforeAll(async () => {
      bucket = await startMoto("night");
      await bucket.put("docs/a.txt", "a");
      await bucket.put("docs/denied.txt", "b");
      await bucket.put("docs/gate.md", "# Gate\n\nThe gate of the harbour opens at 7.\n");
      await bucket.put("docs/letter.eml", MAIL);
      await bucket.check("keys");
    });
    afterAll(async () => {
      await bucket.stop();
    });

    test("is cited by the versions of its objects, also of mails for what they bring", async () => {
      const cloud = await startSyncedSource("s3", remoteOf(bucket.user, { url: bucket.url }), {
        S3_SECRET: bucket.secret,
      });
      try {
        await expect(cloud.sync()).resolves.toMatchObject({ fetched: 3, skipped: 1 });
        const index = { source: "cloud", allow_partial: true };
        const indexed = await cloud.work({ kind: "index", options: index });
        expect(indexed.settlement).toMatchObject({ kind: "succeeded" });
        for (const [question, key, below] of [
          ["When does the gate of the harbour open?", "gate.md", ""],
          ["Which colour has the buoy of the northern channel?", "letter.eml", BUOY],
        ] as const) {
          const { jobId, settlement } = await cloud.work({ kind: "ask", question });
          expect(settlement).toMatchObject({ kind: "succeeded" });
          const result = await selectResult(cloud.db, jobId);
          const path = `allowed/cloud/docs/${key}${below}`;
          const origin: unknown = expect.stringMatching(
            new RegExp(`^s3://night/docs/${key}\\?versionId=[\\w-]+$`),
          );
          expect(result?.evidence).toContainEqual(expect.objectContaining({ path, origin }));
          const { rows } = await cloud.db.query(
            "select path, origin from nightdesk.evidence where job_id = $1 and admitted",
            [jobId],
          );
          expect(rows).toContainEqual({ path, origin });
        }
      } finally {
        await cloud.stop();
      }
    });

    test.each([
      ["SOURCE_DENIED", "with a wrong secret", { secret: "wrong" }],
      ["SOURCE_DENIED", "with an access key that nobody has", { user: "AKIANOBODY" }],
      ["SOURCE_INVALID", "where there is no such bucket", { bucket: "nowhere" }],
      ["one denied", "but for an object that may not be read", {}],
    ])("ends with %s %s", async (code, _, { secret, user, bucket: name }: Changes) => {
      const url = bucket.url.replace("night", name ?? "night");
      const cloud = await startSyncedSource("s3", remoteOf(user ?? bucket.user, { url }), {
        S3_SECRET: secret ?? bucket.secret,
      });
      try {
        const ended = await cloud.sync();
        if (code !== "one denied") {
          expect(ended).toBe(code);
          return;
        }
        expect(ended).toMatchObject({ fetched: 3, skipped: 1 });
        await expect(cloud.rows("name, reason")).resolves.toContainEqual({
          ...{ name: "docs/denied.txt", reason: "it may not be read (AccessDenied)" },
        });
      } finally {
        await cloud.stop();
      }
    });
  });
});

type Changes = { readonly secret?: string; readonly user?: string; readonly bucket?: string };
