import { once } from "node:events";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openMailbox } from "../../../src/worker/sync/imap.ts";
import { signal } from "../../conformance/signal.ts";
import { startCuttingRelay } from "../../support/cutting-relay.ts";
import type { CuttingRelay } from "../../support/cutting-relay.ts";
import { describeOn } from "../../support/describe-on.ts";
import { hasDovecot, startDovecot } from "../../support/dovecot.ts";
import type { MailServer } from "../../support/dovecot.ts";
import { isExpected } from "../../support/expected-server.ts";
import { startSyncedSource } from "../../support/synced-source.ts";
import type { SyncedSource } from "../../support/synced-source.ts";

const SECRET = "correct-horse";
const mail = (at: number, body = "The gate opens at 7."): string =>
  `From: a@example.net\r\nTo: b@example.net\r\nSubject: Note ${at}\r\nMessage-ID: <${at}@example.net>\r\n\r\n${body}\r\n`;

test("Dovecot is there where everything is proved", () => {
  expect(hasDovecot || !isExpected("dovecot-imapd")).toBe(true);
});

test("a mailbox that does not answer during the login is left at once when the worker stops", async () => {
  const greeted = signal();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write("* OK here\r\n", () => {
      greeted.resolve();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const remote = openMailbox({
    ...{ source: "mail", timeoutMs: 60_000, isAllowed: () => true, ca: undefined },
    ...{ login: { user: "night", secret: SECRET }, folders: ["INBOX"] },
    url: new URL(`imap://127.0.0.1:${port}`),
  });
  const stopping = new AbortController();
  const listed = remote.list(stopping.signal)[Symbol.asyncIterator]().next();
  await greeted.promise;
  stopping.abort(new Error("stopped"));
  await expect(listed).rejects.toThrow("stopped");
  server.close();
});

(hasDovecot ? describe : describe.skip)("a mailbox of Dovecot", () => {
  describeOn("postgres", "that is mirrored", () => {
    let server: MailServer;
    let mails: SyncedSource;
    const env = { MAIL_SECRET: SECRET };
    const remoteOf = (changes: Readonly<Record<string, unknown>> = {}) => ({
      ...{ url: `imap://127.0.0.1:${server.port}`, user: "night", secret_env: "MAIL_SECRET" },
      ...{ ca_file: server.caFile, allowed_networks: ["127.0.0.1"], ...changes },
    });
    const delivered = (at: number): string => join(server.maildir, "new", `1000.${at}.host`);

    beforeAll(async () => {
      server = await startDovecot(SECRET);
      for (let at = 1; at <= 30; at += 1) await writeFile(delivered(at), mail(at), { mode: 0o644 });
      await writeFile(delivered(31), mail(31, "x".repeat(76) + "\r\n".repeat(4_500_000)), {
        mode: 0o644,
      });
      mails = await startSyncedSource("imap", remoteOf(), env);
    });
    afterAll(async () => {
      await mails.stop();
      await server.stop();
    });

    test("is fetched once as files, unread as it was, and named by evidence's origin", async () => {
      await expect(mails.sync()).resolves.toMatchObject({ listed: 31, fetched: 31, skipped: 0 });
      const [first] = await mails.rows("path, version, origin, fate");
      expect(first).toEqual({
        path: expect.stringMatching(/^allowed\/cloud\/INBOX\/\d+-\d+\.eml$/),
        version: expect.stringMatching(/^UIDVALIDITY=\d+;UID=\d+$/),
        origin: expect.stringMatching(
          /^imap:\/\/127\.0\.0\.1:\d+\/INBOX;UIDVALIDITY=\d+\/;UID=\d+$/,
        ),
        fate: "fetched",
      });
      const sizes = await mails.rows("bytes");
      expect(sizes).toContainEqual({
        bytes: String(Buffer.byteLength(mail(31, "x".repeat(76) + "\r\n".repeat(4_500_000)))),
      });
      await expect(mails.sync()).resolves.toMatchObject({ fetched: 0, bytes: 0, unchanged: 31 });
      expect(await readdir(join(server.maildir, "cur"))).toEqual([]);
    });

    test("is followed in what comes, moves and goes", async () => {
      await rm(delivered(1));
      await rename(delivered(2), join(server.maildir, "cur", "1000.2.host:2,S"));
      await writeFile(delivered(40), mail(40), { mode: 0o644 });
      await expect(mails.sync()).resolves.toMatchObject({ fetched: 1, deleted: 1, unchanged: 30 });
      const names = await mails.names();
      expect(names).toHaveLength(31);
      const newest = await Promise.all(
        names.map((name) => readFile(join(mails.topology.workroot, "allowed/cloud", name), "utf8")),
      );
      expect(newest.filter((text) => text.includes("Subject: Note 40"))).toHaveLength(1);
    });
  });

  describeOn("postgres", "whose connection is cut again and again", () => {
    let server: MailServer;
    let relay: CuttingRelay;
    let mails: SyncedSource;

    beforeAll(async () => {
      server = await startDovecot(SECRET);
      for (let at = 1; at <= 200; at += 1)
        await writeFile(join(server.maildir, "new", `1000.${at}.host`), mail(at, `Day ${at}.`), {
          mode: 0o644,
        });
      relay = await startCuttingRelay(server.port, 30_000);
      mails = await startSyncedSource(
        "imap",
        {
          ...{ url: `imap://127.0.0.1:${relay.port}`, user: "night", secret_env: "MAIL_SECRET" },
          ...{ ca_file: server.caFile, allowed_networks: ["127.0.0.1"] },
        },
        { MAIL_SECRET: SECRET },
      );
    });
    afterAll(async () => {
      await mails.stop();
      await relay.close();
      await server.stop();
    });

    test("has each of its 200 mails once and whole in the end, and loses none on the way", async () => {
      const known: number[] = [];
      while ((known.at(-1) ?? 0) < 200 && known.length < 20) {
        await mails.sync();
        known.push((await mails.names()).length);
      }
      expect(relay.cuts()).toBeGreaterThan(3);
      expect(known).toEqual(known.toSorted((one, other) => one - other));
      const texts = await Promise.all(
        (await mails.names()).map((name) =>
          readFile(join(mails.topology.workroot, "allowed/cloud", name), "utf8"),
        ),
      );
      const wanted = Array.from({ length: 200 }, (_, at) => mail(at + 1, `Day ${at + 1}.`));
      expect(texts.toSorted()).toEqual(wanted.toSorted());
    }, 120_000);
  });

  describeOn("postgres", "that lets nobody in", () => {
    let server: MailServer;
    beforeAll(async () => {
      server = await startDovecot(SECRET);
    });
    afterAll(async () => {
      await server.stop();
    });

    test.each([
      ["SOURCE_DENIED", "with a wrong secret", { secret: "wrong" }],
      ["SOURCE_INVALID", "without the folder", { folders: ["Nowhere"] }],
      ["SOURCE_DENIED", "with a certificate of nobody who is trusted", { ca_file: undefined }],
      ["SOURCE_UNAVAILABLE", "where nobody listens", { url: "imaps://127.0.0.1:9" }],
    ])("ends with %s %s", async (code, _, { secret = SECRET, url, ...changes }: Changes) => {
      const remote = {
        ...{ user: "night", secret_env: "MAIL_SECRET", ca_file: server.caFile },
        ...{ allowed_networks: ["127.0.0.1"], ...changes },
        url: (url ?? "imap://127.0.0.1:PORT").replace("PORT", String(server.port)),
      };
      const mails = await startSyncedSource("imap", remote, { MAIL_SECRET: secret });
      await expect(mails.sync().finally(() => mails.stop())).resolves.toBe(code);
    });
  });
});

type Changes = {
  readonly secret?: string;
  readonly url?: string;
  readonly ca_file?: undefined;
  readonly folders?: readonly string[];
};
