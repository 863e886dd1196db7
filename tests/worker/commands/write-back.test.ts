import { createHash, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { FieldBinding } from "../../../src/shared/job/run-result.ts";
import { claimDocument, releaseDocument } from "../../../src/shared/store/index/write-backs.ts";
import type { NotifyInput } from "../../../src/shared/job/job.ts";
import { completeBatches } from "../../../src/shared/store/jobs/batches.ts";
import { registerHook } from "../../../src/shared/store/schedules/hook-calls.ts";
import { findValueReview, takeDecision } from "../../../src/shared/views/value-reviews.ts";
import { hookTargetsOf } from "../../../src/worker/services/shared-config.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import {
  answered,
  askJob,
  claimNext,
  EMPTY_RECORD,
  FULL_RECORD,
  MADE_WITH,
  openBatchOf,
} from "../../conformance/jobs.ts";
import { withDocument } from "../../../src/worker/paperless/with-document.ts";
import { eventually } from "../../conformance/signal.ts";
import { startPaperless } from "../../doubles/paperless-server.ts";
import type { PaperlessServer, StoredDocument } from "../../doubles/paperless-server.ts";
import { describeOn } from "../../support/describe-on.ts";
import { runCommand } from "../../support/run-command.ts";
import { startSyncedSource } from "../../support/synced-source.ts";
import type { SyncedSource } from "../../support/synced-source.ts";

const TOKEN = "0123456789abcdef";
const REMOTE = { secret_env: "PAPERLESS_TOKEN", allowed_networks: ["127.0.0.1"], timeout_s: 5 };
const LETTER = "Stadtwerke Musterstadt\nInvoice\nTotal 240.00 EUR";
const SHA256 = createHash("sha256").update(LETTER).digest("hex");

const bound = (
  pointer: string,
  value: FieldBinding["value"],
  more: Partial<FieldBinding> = {},
): FieldBinding => ({
  ...{ pointer, value, state: "bound", reason: null, grade: "supported", judged: null },
  quote: `the words of ${pointer}`,
  span: {
    ...{ number: 1, path: "x", startChar: 0, endChar: 9, lineStart: 2, lineEnd: 2 },
    locator: { page: 1 },
  },
  ...more,
});
const LETTER_FIELDS = [
  bound("/correspondent", "stadtwerke musterstadt"),
  bound("/type", "Invoice"),
  bound("/tags/0", "power"),
  bound("/amount", 240),
  bound("/currency", "EUR"),
  bound("/due_day", "2026-03-01", { grade: "unconfirmed", reason: "other_label" }),
];

type Value = Readonly<Record<string, unknown>>;

describeOn("postgres", "what is supported of a batch", () => {
  let paperless: PaperlessServer;
  let cloud: SyncedSource;
  /** Number of the document of a test. */
  let letter = 1;
  const open: { readonly stop: () => Promise<void> }[] = [];

  /** A source of a new server, whose documents are mirrored. */
  async function start(writeBack: object, letters = 1): Promise<void> {
    paperless = await startPaperless(TOKEN, 50);
    const server = paperless;
    open.push({ stop: () => server.close() });
    paperless.names.correspondents.push({ id: 7, name: "Stadtwerke Musterstadt" });
    paperless.names.tags.push({ id: 3, name: "power" }, { id: 4, name: "urgent" });
    for (letter = 1; letter < letters; letter += 1) paperless.add({}, LETTER);
    cloud = await startSyncedSource(
      "paperless",
      { ...REMOTE, url: paperless.url },
      { PAPERLESS_TOKEN: TOKEN },
      { source: { write_back: writeBack } },
    );
    open.push(cloud);
    await addLetter();
  }
  async function addLetter(): Promise<void> {
    letter = paperless.add({ tags: [4] }, LETTER).id;
    await cloud.sync();
    paperless.requests.length = 0;
  }
  const CREATE = { create: true, custom_fields: { amount: "Amount", due_day: "Due" } };
  let shared: [PaperlessServer, SyncedSource];
  beforeAll(async () => {
    await start(CREATE);
    shared = [paperless, cloud];
  });
  beforeEach(async () => {
    [paperless, cloud] = shared;
    await addLetter();
  });
  afterAll(async () => {
    for (const one of open) await one.stop();
  });

  /** An extraction of a document, as a run that has ended left it. @returns the name of its batch */
  async function extracted(
    fields: readonly FieldBinding[] = LETTER_FIELDS,
    paths: readonly string[] = [`allowed/cloud/${letter}.txt`],
    sha256 = SHA256,
  ): Promise<string> {
    const inputs = paths.map(
      (path) => ({ kind: "extract", path, schema: { type: "object" } }) as const,
    );
    const { jobIds, batchId } = await openBatchOf(
      cloud.db,
      inputs.map((input) => askJob(randomUUID(), { input })),
    );
    for (const [at, path] of paths.entries()) {
      const { runId } = await claimNext(cloud.db, jobIds[at] ?? "");
      const [piece] = FULL_RECORD.evidence.filter(({ kind }) => kind === "file");
      if (piece === undefined) throw new Error("FULL_RECORD holds no file");
      const evidence = [{ ...piece, path, sha256 }];
      const bindings = fields.map((one) => ({
        ...one,
        span: one.span === null ? null : { ...one.span, path },
      }));
      const settlement = { kind: "succeeded", outcome: answered("{}") } as const;
      const run = { runId, runMs: 1, ...MADE_WITH };
      await settleRun(cloud.db, run, settlement, { ...EMPTY_RECORD, evidence, bindings });
    }
    return batchId;
  }

  const run = async (...words: string[]) => {
    const place = { cwd: cloud.topology.workroot, env: { PAPERLESS_TOKEN: TOKEN } };
    return runCommand(words, place);
  };
  const write = async (...words: string[]) => {
    const { code, stdout, stderr } = await run("write-back", ...words, "--json");
    const json = JSON.parse(stdout === "" ? stderr : stdout) as {
      values: Value[];
      error_code?: string;
    };
    return { code, ...json };
  };
  const statesOf = (values: readonly Value[]) =>
    Object.fromEntries(values.map(({ pointer, state }) => [String(pointer), state]));
  const fieldsOf = ({ custom_fields }: StoredDocument): Value =>
    Object.fromEntries(
      custom_fields.map(({ field, value }) => [
        paperless.names.custom_fields.find(({ id }) => id === field)?.name ?? "",
        value,
      ]),
    );
  const first = (): StoredDocument => {
    const document = paperless.documents.get(letter);
    if (document === undefined) throw new Error("no document");
    return document;
  };
  const rows = async (columns: string) =>
    (
      await cloud.db.query(
        `select ${columns} from nightdesk.write_backs where remote_id = $1 order by write_id`,
        [`${letter}.txt`],
      )
    ).rows as Value[];

  test("is written with its words, page and hash, and nothing else; a second run writes nothing", async () => {
    const batch = await extracted();
    const { code, values } = await write(batch);
    expect(code).toBe(0);
    expect(statesOf(values)).toEqual({
      ...{ "/correspondent": "written", "/type": "written", "/tags/0": "written" },
      ...{ "/amount": "written", "/due_day": "withheld" },
    });
    const type = paperless.names.document_types.find(({ name }) => name === "Invoice");
    expect(first()).toMatchObject({ correspondent: 7, document_type: type?.id, tags: [4, 3] });
    expect(paperless.names.correspondents).toEqual([{ id: 7, name: "Stadtwerke Musterstadt" }]);
    const fields = fieldsOf(first());
    expect(fields).toMatchObject({ Amount: 240 });
    expect(fields).not.toHaveProperty("Due");
    expect(Object.keys(fields).sort()).toEqual([
      ...["Amount", "Amount · evidence", "Correspondent · evidence"],
      ...["Document type · evidence", "Tag power · evidence"],
    ]);
    expect(fields["Correspondent · evidence"]).toMatch(
      new RegExp(`"the words of /correspondent"\\npage 1, line 2 .*\\n.*${SHA256}\\nsupported`),
    );
    expect(await rows("kind, name, state, reason")).toEqual(
      expect.arrayContaining([
        { kind: "correspondent", name: "correspondent", state: "written", reason: null },
        expect.objectContaining({
          ...{ kind: "custom_field", name: "Due", state: "withheld" },
          reason: "it is graded unconfirmed (other_label)",
        }),
      ]),
    );
    paperless.requests.length = 0;
    const [noted] = await rows("max(noted_at) over () as at");
    expect(statesOf((await write(batch)).values)).toEqual(statesOf(values));
    // By which the page of the morning knows that a failure of the write-back is mended.
    expect((await rows("min(noted_at) over () as at"))[0]?.["at"]).not.toEqual(noted?.["at"]);
    expect(paperless.writes()).toEqual([]);
    // What was written is no change of somebody else's.
    await expect(cloud.sync()).resolves.toMatchObject({ described: 0 });
    const again = await write(await extracted());
    expect(statesOf(again.values)).toMatchObject({
      "/correspondent": "stands",
      "/amount": "stands",
    });
    expect(paperless.writes()).toEqual([]);
  });

  test("is only told by a dry run", async () => {
    const { values } = await write(await extracted(), "--dry-run");
    expect(statesOf(values)).toMatchObject({ "/type": "written", "/due_day": "withheld" });
    expect(paperless.writes()).toEqual([]);
    expect(await rows("*")).toEqual([]);
    const { stdout } = await run("write-back", await extracted(), "--dry-run");
    expect(stdout).toContain(
      "4 values to be written to 1 document; 0 values stood there already, 1 value withheld.",
    );
    expect(stdout).toContain(
      `${letter}.txt /due_day (Due) withheld: it is graded unconfirmed (other_label)`,
    );
  });

  test("is never written over what another has changed since it was read", async () => {
    await start(CREATE);
    const batch = await extracted();
    const other = paperless.name("correspondents", "Somebody else");
    const words = paperless.name("custom_fields", "Document type · evidence", {
      data_type: "longtext",
    });
    const own = { field: words, value: "words of somebody" };
    Object.assign(first(), { correspondent: other, custom_fields: [own] });
    const { values } = await write(batch);
    expect(statesOf(values)).toMatchObject({
      ...{ "/correspondent": "withheld", "/type": "withheld", "/amount": "written" },
    });
    expect(first().custom_fields).toContainEqual(own);
    expect(values[0]).toMatchObject({
      reason: expect.stringContaining('has changed it since the file was read, to "Somebody else"'),
    });
    expect(first().correspondent).toBe(other);
    // Nor where a sync has seen the change meanwhile.
    const later = await extracted([bound("/amount", 17)]);
    Object.assign(first(), { title: "Looked at" });
    await cloud.sync();
    expect((await write(later)).values[0]).toMatchObject({
      ...{ state: "withheld", reason: expect.stringContaining("changed the document since") },
    });
  });

  test("replaces what stood there before only where that is wanted", async () => {
    const other = paperless.name("correspondents", "Old");
    Object.assign(first(), { correspondent: other });
    await cloud.sync();
    const [kept] = (await write(await extracted([LETTER_FIELDS[0] ?? bound("/", 1)]))).values;
    expect(kept).toMatchObject({
      state: "withheld",
      reason: expect.stringContaining('"Old" stands there'),
    });
    await start({ create: true, replace: true });
    const old = paperless.name("correspondents", "Old");
    Object.assign(first(), { correspondent: old });
    await cloud.sync();
    const batch = await extracted([LETTER_FIELDS[0] ?? bound("/", 1)]);
    expect((await write(batch)).values[0]).toMatchObject({ state: "written" });
    expect(first().correspondent).toBe(7);
    await run("write-back", "undo", batch);
    expect(first()).toMatchObject({ correspondent: old, custom_fields: [] });
  });

  test("makes nothing there without leave, and never a tag", async () => {
    await start({ custom_fields: { amount: "Amount" } });
    const fields = [...LETTER_FIELDS, bound("/tags/1", "holiday")];
    const { values } = await write(await extracted(fields));
    expect(new Set(Object.values(statesOf(values)))).toEqual(new Set(["withheld"]));
    expect(paperless.writes()).toEqual([]);
    await start(CREATE);
    const made = await write(await extracted(fields));
    expect(made.values.find(({ pointer }) => pointer === "/tags/1")).toMatchObject({
      ...{ state: "withheld", reason: 'there is no tag "holiday"; tags are never made' },
    });
    expect(paperless.names.tags).toHaveLength(2);
  });

  test("writes a tag that is spelt in two ways once", async () => {
    const fields = [bound("/tags/0", "power"), bound("/tags/1", "Power")];
    const { values } = await write(await extracted(fields));
    expect(statesOf(values)).toEqual({ "/tags/0": "written" });
  });

  test("takes no value that a custom field does not hold, and no money of an unsure currency", async () => {
    await start(CREATE);
    paperless.name("custom_fields", "Amount", { data_type: "monetary" });
    paperless.name("custom_fields", "Due", { data_type: "string" });
    const long = bound("/due_day", "\u{1f4c4}".repeat(129));
    const unsure = bound("/currency", "EUR", { grade: "unconfirmed", reason: "no_quote" });
    const { values } = await write(await extracted([bound("/amount", 240), unsure, long]));
    expect(values.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('the currency "EUR" is not sure'),
      expect.stringContaining("takes 128 characters, and the value has 129"),
    ]);
    const [parts] = (await write(await extracted([bound("/amount", 12.345)]))).values;
    expect(parts).toMatchObject({ reason: expect.stringContaining("takes cents") });
    expect(paperless.writes()).toEqual([]);
    await write(await extracted([bound("/amount", 240), bound("/currency", "€")]));
    expect(fieldsOf(first())).toMatchObject({ Amount: "EUR240.00" });
  });

  test("is gone on with where a crash came between two writes", async () => {
    const batch = await extracted();
    paperless.fault = (line) => (line.startsWith("PATCH") ? { cut: "after" } : undefined);
    expect(await write(batch)).toMatchObject({ code: 1, error_code: "SOURCE_UNAVAILABLE" });
    expect((await rows("state")).filter(({ state }) => state === "intended")).toHaveLength(8);
    paperless.fault = undefined;
    paperless.requests.length = 0;
    const { values } = await write(batch);
    expect(statesOf(values)).toMatchObject({ "/correspondent": "written", "/amount": "written" });
    // All of it had come there before the answer was lost.
    expect(paperless.writes()).toEqual([]);
    expect(first().custom_fields).toHaveLength(5);
  });

  test("is begun anew where nothing had come there, unless somebody has written there meanwhile", async () => {
    const batch = await extracted();
    paperless.fault = (line) => (line.includes("bulk_edit") ? { cut: "before" } : undefined);
    await write(batch);
    paperless.fault = undefined;
    const other = paperless.name("correspondents", "Mine");
    Object.assign(first(), { correspondent: other });
    const { values } = await write(batch);
    expect(statesOf(values)).toMatchObject({ "/correspondent": "withheld", "/type": "written" });
    expect(first().correspondent).toBe(other);
    // It stays a change of somebody else's.
    expect((await write(batch)).values[0]).toMatchObject({
      reason: expect.stringContaining("changed it since the file was read"),
    });
  });

  test("is not waited for where its custom field was deleted meanwhile", async () => {
    const batch = await extracted();
    paperless.fault = (line) => (line.includes("bulk_edit") ? { cut: "before" } : undefined);
    await write(batch);
    paperless.fault = undefined;
    const { custom_fields: fields } = paperless.names;
    const [gone] = fields.splice(
      fields.findIndex(({ name }) => name === "Amount"),
      1,
    );
    const { values } = await write(batch);
    if (gone !== undefined) fields.push(gone);
    expect(values.find(({ pointer }) => pointer === "/amount")).toMatchObject({
      state: "withheld",
      reason: expect.stringContaining("was deleted"),
    });
  });

  test("is undone where a crash came before it was noted", async () => {
    const batch = await extracted();
    paperless.fault = (line) => (line.startsWith("PATCH") ? { cut: "after" } : undefined);
    await write(batch);
    paperless.fault = undefined;
    expect(await run("write-back", "undo", batch)).toMatchObject({ code: 0 });
    expect(first()).toMatchObject({ correspondent: null, custom_fields: [] });
  });

  test("is pending until it is seen there", async () => {
    const batch = await extracted([LETTER_FIELDS[1] ?? bound("/", 1)]);
    const before = structuredClone(first());
    paperless.fault = (line) => {
      if (line.startsWith(`GET /api/documents/${letter}/`)) return { json: before };
      return undefined;
    };
    expect(await write(batch)).toMatchObject({ code: 3, values: [{ state: "pending" }] });
    paperless.fault = undefined;
    expect(await write(batch)).toMatchObject({ code: 0, values: [{ state: "written" }] });
  });

  test("is pending, too, if another write was refused after it", async () => {
    const batch = await extracted();
    const before = structuredClone(first());
    paperless.fault = (line) => {
      if (line.startsWith("PATCH")) return { status: 403 };
      return line.startsWith(`GET /api/documents/${letter}/`) ? { json: before } : undefined;
    };
    const { values } = await write(batch);
    paperless.fault = undefined;
    expect(statesOf(values)).toMatchObject({ "/correspondent": "withheld", "/amount": "pending" });
  });

  test("stops at once at a wrong token, and passes by a document that may not be changed", async () => {
    const batch = await extracted();
    const place = { cwd: cloud.topology.workroot, env: { PAPERLESS_TOKEN: "wrong-token" } };
    const { code, stderr, stdout } = await runCommand(["write-back", batch], place);
    expect(code).not.toBe(0);
    expect(stderr).toContain("SOURCE_DENIED");
    expect(stderr + stdout).not.toContain("wrong-token");
    expect(paperless.requests).toHaveLength(1);
    await start(CREATE, 2);
    paperless.fault = (line, body) =>
      /bulk_edit|PATCH/.test(line) && JSON.stringify([line, body]).includes("[1]")
        ? { status: 403 }
        : undefined;
    const paths = ["allowed/cloud/1.txt", "allowed/cloud/2.txt"];
    const both = await write(await extracted([bound("/tags/0", "power")], paths));
    expect(both.values).toMatchObject([
      { state: "withheld", reason: "paperless-ngx answered 403" },
      { state: "written" },
    ]);
  });

  test("is withheld of an original that is another by now, of a document that is gone, and of a second extraction", async () => {
    const other = await write(
      await extracted(LETTER_FIELDS, [`allowed/cloud/${letter}.txt`], "e".repeat(64)),
    );
    expect(other.values[0]).toMatchObject({ reason: expect.stringContaining("another version") });
    const twice = await extracted(LETTER_FIELDS, [
      `allowed/cloud/${letter}.txt`,
      `allowed/cloud/${letter}.txt`,
    ]);
    const { stdout } = await run("write-back", twice, "--dry-run");
    expect(stdout).toContain(
      "1 extraction of a document that another one of the batch is of: left out.",
    );
    paperless.documents.delete(letter);
    const gone = await write(await extracted());
    expect(gone.values[0]).toMatchObject({
      state: "withheld",
      reason: expect.stringContaining("not there"),
    });
  });

  test("is undone, but for what somebody has changed since, which is told", async () => {
    const batch = await extracted();
    await write(batch);
    const mine = paperless.name("document_types", "Mine");
    const below = paperless.name("tags", "of power", { parent: 3 });
    Object.assign(first(), { document_type: mine, tags: [4, 3, below] });
    const undone = await run("write-back", "undo", batch, "--json");
    expect(undone.code).toBe(3);
    const { values } = JSON.parse(undone.stdout) as { values: Value[] };
    expect(values.filter(({ state }) => state === "kept")).toMatchObject([
      { kind: "document_type", reason: 'somebody has changed it, to "Mine"' },
      { kind: "tag", name: "power", reason: expect.stringContaining("a tag below it") },
    ]);
    expect(first()).toMatchObject({
      correspondent: null,
      document_type: mine,
      tags: [4, 3, below],
      custom_fields: [],
    });
    paperless.requests.length = 0;
    const again = await run("write-back", "undo", batch);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("0 values undone") });
    await write(batch);
    expect(paperless.writes()).toEqual([]);
  });

  const unsure = { grade: "unconfirmed", reason: "other_label" } as const;
  const nothing = {
    state: "null",
    reason: "quote_not_found",
    grade: null,
    quote: null,
    span: null,
  } as const;
  const listed = async (batch: string, ...words: string[]) =>
    JSON.parse(
      (await run("reviews", "list", "--batch", batch, "--json", ...words)).stdout,
    ) as Value[];
  const reviewOf = async (batch: string, pointer: string): Promise<string> =>
    String((await listed(batch)).find((one) => one["pointer"] === pointer)?.["review"]);
  const decide = async (verb: string, review: string, ...words: string[]) => {
    const { code, stderr } = await run("reviews", verb, review, ...words);
    return { code, stderr };
  };

  test("asks a person about the rest, and writes what that person accepts or corrects, with who and when", async () => {
    const batch = await extracted([
      bound("/amount", 240, unsure),
      bound("/due_day", null, nothing),
      bound("/tags/0", "powr"),
      bound("/type", "Invoice", unsure),
    ]);
    const { stdout } = await run("write-back", batch);
    expect(stdout).toContain(`4 values wait for a person: nightdesk reviews list --batch ${batch}`);
    const before = await listed(batch);
    expect(before).toMatchObject([
      {
        ...{ pointer: "/amount", state: "waiting", value: 240, quote: "the words of /amount" },
        ...{
          locator: { page: 1 },
          is_changed: false,
          why: "it is graded unconfirmed (other_label)",
        },
      },
      { pointer: "/due_day", value: null, quote: null },
      { pointer: "/type", value: "Invoice" },
      { pointer: "/tags/0", why: 'there is no tag "powr"; tags are never made' },
    ]);
    await write(batch);
    expect(await listed(batch)).toEqual(before);
    expect(paperless.writes()).toEqual([]);

    expect((await decide("accept", await reviewOf(batch, "/due_day"))).stderr).toContain(
      "Nothing was changed. There is no value to accept: correct it, or reject it.",
    );
    expect((await decide("accept", await reviewOf(batch, "/amount"))).stderr).toContain(
      `is accepted: the next nightdesk write-back`,
    );
    await decide(
      "correct",
      await reviewOf(batch, "/due_day"),
      "--text",
      "2026-03-01",
      "--reason",
      "stamped",
    );
    await decide("correct", await reviewOf(batch, "/tags/0"), "--text", "power");
    const rejected = await reviewOf(batch, "/type");
    expect(await decide("reject", rejected)).toMatchObject({ code: 0 });
    expect((await decide("accept", rejected)).stderr).toMatch(/was rejected by .+ before/);
    expect(await listed(batch)).toEqual([]);

    expect(statesOf((await write(batch)).values)).toEqual({
      ...{ "/amount": "written", "/due_day": "written", "/tags/0": "written", "/type": "withheld" },
    });
    expect(first()).toMatchObject({ tags: [4, 3], document_type: null });
    const fields = fieldsOf(first());
    expect(fields).toMatchObject({ Amount: 240, Due: "2026-03-01" });
    expect(fields["Amount · evidence"]).toMatch(
      /^"the words of \/amount"\n[^]*\naccepted by .+ at 20.+Z, graded unconfirmed; Nightdesk, batch/,
    );
    expect(fields["Due · evidence"]).toMatch(
      /^No words [^]*\ncorrected by .+ at 20.+Z, where the model gave null \(unconfirmed\): stamped; Nightdesk/,
    );
    paperless.requests.length = 0;
    await write(batch);
    expect(paperless.writes()).toEqual([]);
    expect(
      (await listed(batch, "--all")).map((one) => [one["state"], one["written_state"]]),
    ).toEqual(
      expect.arrayContaining([
        ["accepted", "written"],
        ["corrected", "written"],
        ["rejected", "withheld"],
      ]),
    );
    await run("write-back", "undo", batch);
    expect(first()).toMatchObject({ tags: [4], custom_fields: [] });
  });

  const decideFields = async (batch: string, ...said: (readonly [string, string])[]) => {
    const { rows: jobs } = await cloud.db.query(
      "select job_id from nightdesk_data.jobs where batch_id = $1",
      [batch],
    );
    const jobId = String((jobs[0] as Value)["job_id"]);
    for (const [decision, field] of said)
      expect(await run("reviews", decision, jobId, "--field", field)).toMatchObject({ code: 0 });
  };

  test("is what a person decided on the fields of the extraction, before anybody was asked about it", async () => {
    const batch = await extracted([
      bound("/amount", 240, unsure),
      bound("/type", "Invoice"),
      bound("/due_day", "2026-03-01", unsure),
      bound("/tags/0", "powr"),
    ]);
    await decideFields(
      batch,
      ["correct", "amount=250"],
      ["reject", "type"],
      ["accept", "due_day"],
      ["correct", "tags 1=power"],
    );
    expect(statesOf((await write(batch)).values)).toEqual({
      ...{ "/amount": "written", "/type": "withheld", "/due_day": "written", "/tags/0": "written" },
    });
    const me = userInfo().username;
    expect(await rows("pointer, value, state, reason, review")).toContainEqual({
      ...{ pointer: "/type", value: "Invoice", state: "withheld", review: null },
      reason: `${me} rejected it`,
    });
    expect(JSON.stringify(first().custom_fields)).toContain(`corrected by ${me} at `);
    expect(first().tags).toContain(3);
  });

  test("is a tag that one field is corrected to and another doubts, and money in the currency that a person gave", async () => {
    await start(CREATE);
    paperless.name("custom_fields", "Amount", { data_type: "monetary" });
    const batch = await extracted([
      bound("/amount", 240),
      bound("/currency", "EUR"),
      bound("/tags/0", "powr"),
      bound("/tags/1", "power", unsure),
    ]);
    await decideFields(batch, ["correct", "currency=CHF"], ["correct", "tags 1=power"]);
    expect((await write(batch)).values.map(({ state }) => state)).toEqual(["written", "written"]);
    expect(fieldsOf(first())).toMatchObject({ Amount: "CHF240.00" });
    expect(first().tags).toContain(3);
  });

  test("is replaced by what a person accepts, where that person was told what stands there", async () => {
    const other = paperless.name("correspondents", "Old");
    Object.assign(first(), { correspondent: other });
    await cloud.sync();
    const batch = await extracted([bound("/correspondent", "Stadtwerke Musterstadt", unsure)]);
    await write(batch);
    await decide("accept", await reviewOf(batch, "/correspondent"));
    expect((await write(batch)).values).toMatchObject([
      { state: "withheld", reason: expect.stringContaining('"Old" stands there already') },
    ]);
    // It was accepted without this reason: it is asked about anew.
    await decide("accept", await reviewOf(batch, "/correspondent"));
    expect((await write(batch)).values).toMatchObject([{ state: "written" }]);
    expect(first().correspondent).toBe(7);
  });

  test("is not replaced by a second write-back without the second acceptance", async () => {
    const other = paperless.name("correspondents", "Old");
    Object.assign(first(), { correspondent: other });
    await cloud.sync();
    const batch = await extracted([bound("/correspondent", "Stadtwerke Musterstadt", unsure)]);
    await write(batch);
    await decide("accept", await reviewOf(batch, "/correspondent"));
    await write(batch);
    const asked = await listed(batch);
    expect((await write(batch)).values).toMatchObject([{ state: "withheld" }]);
    expect(first().correspondent).toBe(other);
    expect(await listed(batch)).toEqual(asked);
  });

  test("is asked about anew where it can't be written as somebody decided", async () => {
    await start(CREATE);
    paperless.name("custom_fields", "Due", { data_type: "date" });
    const batch = await extracted([bound("/due_day", "soon"), bound("/tags/0", "powr")]);
    await write(batch);
    const [due, tag] = [await reviewOf(batch, "/due_day"), await reviewOf(batch, "/tags/0")];
    await decide("accept", due);
    await decide("correct", tag, "--text", "powr");
    await write(batch);
    const asked = await listed(batch);
    expect(asked.map(({ review, state }) => [review, state])).toEqual([
      ...[
        [due, "waiting"],
        [tag, "waiting"],
      ],
    ]);
    await write(batch);
    expect(await listed(batch)).toEqual(asked);
    await decide("correct", due, "--text", "2026-03-01");
    await decide("correct", tag, "--text", "power");
    expect(statesOf((await write(batch)).values)).toEqual({
      ...{ "/due_day": "written", "/tags/0": "written" },
    });
  });

  test("may be of any characters: what can't be written waits, and the rest of its batch is written", async () => {
    await start({ create: true, custom_fields: { due_day: "Due" } });
    paperless.name("custom_fields", "Due", { data_type: "date" });
    const cut = `${"x".repeat(98)}\u{1F600}`;
    const batch = await extracted([
      ...[bound("/type", "Invoice"), bound("/due_day", cut)],
      ...[bound("/tags/0", "\u200B"), bound("/tags/1", "powr")],
    ]);
    const { values } = await write(batch);
    expect(statesOf(values)).toMatchObject({ "/type": "written", "/due_day": "withheld" });
    expect(await listed(batch)).toMatchObject([
      { value: cut },
      { name: "/tags/0", why: 'there is no tag ""; tags are never made' },
      { value: "powr" },
    ]);
    await decide("correct", await reviewOf(batch, "/tags/1"), "--text", "\u200B");
    const file = join(cloud.topology.workroot, "long.txt");
    await writeFile(file, "\0x".repeat(100_000));
    await decide("correct", await reviewOf(batch, "/due_day"), "--file", file);
    expect(await write(batch)).toMatchObject({ code: 0 });
    expect(await listed(batch)).toHaveLength(3);
  });

  test("is decided once, of two people at once, and as it was looked at", async () => {
    const batch = await extracted([bound("/amount", 240, unsure)]);
    await write(batch);
    const review = await reviewOf(batch, "/amount");
    const row = await findValueReview(cloud.db, review.slice(1));
    if (row === undefined) throw new Error("no review");
    const words = {
      decision: "accepted",
      correction: null,
      reason: " ",
      decidedBy: "ada",
    } as const;
    for (const other of [
      { ...row, value: 241 },
      { ...row, why: "another" },
    ])
      await expect(takeDecision(cloud.db, other, words)).rejects.toThrow("withheld anew meanwhile");
    const both = await Promise.allSettled([
      takeDecision(cloud.db, row, words),
      takeDecision(cloud.db, row, { ...words, decision: "rejected" }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const unknown of ["w0", "W999999", "w17x", `w${"9".repeat(19)}`])
      expect(await run("reviews", "accept", unknown)).toMatchObject({ code: 1 });
    await cloud.db.query("delete from nightdesk_data.batches where batch_id = $1", [batch]);
    expect((await decide("accept", review)).stderr).toContain(`No value ${review} waits`);
    await expect(takeDecision(cloud.db, row, words)).rejects.toThrow("Nothing was changed");
  });

  test.each([
    ["date", "2026-02-31"],
    ["float", "1e400"],
    ["integer", "2147483648"],
    ["monetary", "1e22"],
    ["url", "javascript:alert(1)"],
  ])("is not written to a field of the type %s as %s", async (type, text) => {
    await start({ create: true, custom_fields: { due_day: "Due" } });
    paperless.name("custom_fields", "Due", { data_type: type });
    const batch = await extracted([bound("/due_day", null, nothing)]);
    await write(batch);
    await decide("correct", await reviewOf(batch, "/due_day"), "--text", text);
    await write(batch);
    expect(await listed(batch)).toMatchObject([{ why: expect.stringContaining('field "Due"') }]);
    expect(paperless.writes()).toEqual([]);
  });

  test("is never accepted, nor written, of a document that has changed since it was read", async () => {
    const fields = [bound("/amount", 240, unsure), bound("/due_day", "2026-03-01", unsure)];
    const batch = await extracted(fields);
    await write(batch);
    await decide("accept", await reviewOf(batch, "/amount"));
    Object.assign(first(), { title: "Looked at" });
    await cloud.sync();
    expect((await write(batch)).values).toMatchObject([
      {
        state: "withheld",
        reason: expect.stringContaining("changed the document since it was read"),
      },
      { state: "withheld", reason: expect.stringContaining("unconfirmed") },
    ]);
    expect(await listed(batch)).toMatchObject([{ pointer: "/due_day", is_changed: true }]);
    const review = await reviewOf(batch, "/due_day");
    expect((await decide("accept", review)).stderr).toContain("The document has changed since");
    expect((await run("reviews", "show", review)).stdout).toContain("can only be rejected");
    expect(await decide("reject", review)).toMatchObject({ code: 0 });
    expect(paperless.writes()).toEqual([]);
  });

  test("is written to one document by one write-back at a time", async () => {
    const batch = await extracted([bound("/amount", 1)]);
    const document = { source: "cloud", remoteId: `${letter}.txt` };
    const claim = randomUUID();
    expect(await claimDocument(cloud.db, document, claim)).toBe(true);
    expect(await write(batch)).toMatchObject({
      ...{ code: 3, values: [{ state: "pending" }] },
    });
    expect(paperless.requests.filter(({ line }) => line.includes(`/${letter}/`))).toEqual([]);
    expect(await run("write-back", "undo", batch)).toMatchObject({ code: 0 });
    await releaseDocument(cloud.db, document, claim);
    expect(await write(batch)).toMatchObject({ code: 0, values: [{ state: "written" }] });
    await claimDocument(cloud.db, document, claim);
    expect((await run("write-back", "undo", batch)).stdout).toContain("another write-back");
    // As a killed one leaves it.
    await cloud.db.query("update nightdesk_data.write_claims set expires_at = now()");
    expect((await run("write-back", "undo", batch)).stdout).toContain("1 value undone");
  });

  test("is written alone for as long as its document takes, longer than a claim holds", async () => {
    const document = { source: "cloud", remoteId: `${letter}.txt` };
    const takes = () => claimDocument(cloud.db, document, randomUUID());
    const longWrite = async () => {
      const shorten = "update nightdesk_data.write_claims set expires_at = now() + interval '1 s'";
      await cloud.db.query(shorten);
      await eventually("the claim is renewed", async () => {
        const { rows: found } = await cloud.db.query(
          "select from nightdesk_data.write_claims where expires_at > now() + interval '2 minutes'",
        );
        return found.length === 1;
      });
      return takes();
    };
    expect(await withDocument(cloud.db, document, longWrite, 20)).toBe(false);
    expect(await takes()).toBe(true);
  });

  test("is written when its batch ends, where its source says so, and by no other batch", async () => {
    await start({ ...CREATE, when: "batch_end" });
    expect(hookTargetsOf(cloud.topology.context.config)).toEqual(["write_back"]);
    await registerHook(cloud.db, ["write_back"], []);
    const inputsOf = async (batch: string) => {
      await completeBatches(cloud.db, null);
      const { rows: found } = await cloud.db.query(
        "select j.input from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id) where b.parent_id = $1",
        [batch],
      );
      return (found as { input: NotifyInput }[]).map(({ input }) => input);
    };
    expect(await inputsOf(await extracted(LETTER_FIELDS, ["allowed/corpus/a.md"]))).toEqual([]);
    const batch = await extracted();
    const [input, ...others] = await inputsOf(batch);
    expect(others).toEqual([]);
    if (input === undefined) throw new Error("the end of the batch queued nothing");
    expect(input).toMatchObject({ kind: "notify", event: "batch_end", target: "write_back" });
    paperless.fault = (line) => (line.includes("bulk_edit") ? { cut: "before" } : undefined);
    expect((await cloud.work(input)).settlement).toMatchObject({
      ...{ kind: "parked", code: "SOURCE_UNAVAILABLE" },
    });
    paperless.fault = undefined;
    expect((await cloud.work(input)).settlement).toMatchObject({
      ...{ kind: "succeeded", outcome: { summary: { end: "told", written: 4, withheld: 1 } } },
    });
    expect(fieldsOf(first())).toMatchObject({ Amount: 240 });
    paperless.requests.length = 0;
    await cloud.work(input);
    expect(paperless.writes()).toEqual([]);
    expect((await run("batch", "show", batch)).stdout).toContain(
      "1 value was not written to paperless-ngx",
    );
    await cloud.db.query(
      "update nightdesk_data.batches set state = 'open', finished_at = null where batch_id = $1",
      [batch],
    );
    expect((await cloud.work(input)).settlement).toMatchObject({
      outcome: { summary: { end: "superseded" } },
    });
  });

  test("is of a batch and of a source that are there", async () => {
    expect(await write("nothing")).toMatchObject({ error_code: "NOT_FOUND" });
    expect(await write("nothing", "--if-any")).toMatchObject({ code: 0, values: [] });
    const elsewhere = await extracted(LETTER_FIELDS, ["allowed/corpus/a.md"]);
    expect(await write(elsewhere)).toMatchObject({ error_code: "INPUT_INVALID" });
    expect(await write(await extracted([], []))).toMatchObject({
      error_code: "INPUT_INVALID",
      error_message: expect.stringContaining("holds no extraction"),
    });
  });
});
