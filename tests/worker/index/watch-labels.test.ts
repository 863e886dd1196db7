import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { selectWatches } from "../../../src/shared/store/index/watched-files.ts";
import { findOrCreateBatch, openBatch } from "../../../src/shared/store/jobs/batches.ts";
import { insertJobs } from "../../../src/shared/store/jobs/insert-jobs.ts";
import { retryJobs } from "../../../src/shared/store/jobs/retry-jobs.ts";
import type { Settlement } from "../../../src/shared/job/settlement.ts";
import type { Rule } from "../../../src/worker/index/watch-rules.ts";
import { watchMemory } from "../../../src/worker/index/watch-source.ts";
import type { WatchMemory } from "../../../src/worker/index/watch-source.ts";
import {
  answered,
  failed,
  labelled,
  RECORD,
  refused,
  workByHand,
} from "../../producer/work-by-hand.ts";
import { describeOnPostgres } from "../../support/test-databases.ts";
import { watchedFolder } from "../../support/watched-folder.ts";

const LABELS = ["invoice", "letter"];
const CLASSIFY: Rule = { job: { kind: "extract", preset: "classify", labels: LABELS } };
const INVOICE: Rule = { label: "invoice", job: { kind: "extract", preset: "people" } };
const ANY: Rule = { label: ["letter", "invoice"], job: { kind: "summarize" } };
const UNCLASSIFIED: Rule = {
  unclassified: true,
  job: { kind: "ask", question: "What is it?" },
};

const PROCESSES = ["begins anew", "remembers its looks"] as const;

describeOnPostgres.each(PROCESSES)(
  "rules for labels of a watched folder, by one that %s",
  (who) => {
    const desk = watchedFolder([".md", ".txt"]);
    const { write, rest, rows } = desk;
    let memory: WatchMemory;
    beforeEach(() => {
      memory = watchMemory();
    });
    const look = (rules: readonly Rule[]) =>
      desk.look({ rules: [...rules] }, who === "begins anew" ? undefined : memory);
    const jobs = async () => (await desk.jobs()).filter(({ kind }) => kind !== "index");
    const watched = () =>
      rows(
        "select path, state, label, label_state, label_problem from nightdesk.watched_files order by seen_at, path",
      );

    const [FILE] = RECORD.evidence;
    /** Ends the next jobs: each classification in that way, of files that hold these texts. */
    const finish = (count: number, classification: Settlement, ...texts: readonly string[]) => {
      if (FILE === undefined) throw new Error("no evidence of a file");
      const evidence = texts.map((text) => ({ ...FILE, sha256: hash("sha256", text, "hex") }));
      return workByHand(
        desk.db,
        count,
        ({ input }) =>
          input.kind === "extract" && input.preset === "classify"
            ? classification
            : answered("Fine."),
        { ...RECORD, evidence },
      );
    };

    test("a new file is classified, and then gets the job of the first rule for its label, once", async () => {
      write("in/a.md", "A bill.");
      await rest();
      const rules = [ANY, CLASSIFY, INVOICE];
      await look(rules);
      expect(await jobs()).toEqual([{ ...CLASSIFY.job, path: "in/a.md" }]);
      expect((await look(rules)).decisions).toEqual([]);
      await finish(2, labelled("invoice"), "A bill.");
      const looks = await Promise.all(Array.from({ length: 4 }, () => look(rules)));
      expect(looks.flatMap(({ decisions }) => decisions)).toHaveLength(1);
      expect((await look(rules)).decisions).toEqual([]);
      expect((await jobs()).slice(1)).toEqual([{ kind: "summarize", path: "in/a.md" }]);
      expect(await watched()).toEqual([
        {
          path: "in/a.md",
          state: "succeeded",
          label: "invoice",
          label_state: "queued",
          label_problem: null,
        },
      ]);
      // Worked by its label: another classification of the same text is no reason to work it again.
      await classifyByHand("in/a.md", "letter", "A bill.");
      expect((await look(rules)).decisions).toEqual([]);
    });

    /** What `extract --preset classify` of a person, or of a schedule, leaves. */
    async function classifyByHand(path: string, label: string, text: string) {
      const labels = [label, "other"];
      const input = { kind: "extract" as const, preset: "classify" as const, path, labels };
      const { batchId } = await findOrCreateBatch(desk.db, `by hand ${label}`, "file");
      await insertJobs(desk.db, batchId, [
        { customId: path, input, inputSha256: "a".repeat(64), priority: 1 },
      ]);
      await openBatch(desk.db, batchId);
      const { rows: open } = await desk.db.query(
        "select from nightdesk_data.jobs where finished_at is null",
      );
      await finish(open.length, labelled(label), text);
    }

    /** As if all that was taken and classified had been an hour ago. */
    async function age(): Promise<void> {
      await desk.db.query(
        "update nightdesk_data.jobs set finished_at = finished_at - interval '1 hour' where finished_at is not null",
      );
      await desk.db.query(
        "update nightdesk_data.watched_files set seen_at = seen_at - interval '1 hour'",
      );
    }

    test("the newest classification of the same bytes counts, whoever queued it", async () => {
      write("in/a.md", "A bill.");
      await rest();
      await look([CLASSIFY, INVOICE]);
      await finish(2, labelled("letter"), "A bill.");
      // No rule is for letters; a classification with other labels is newer.
      expect((await look([CLASSIFY, INVOICE])).decisions).toMatchObject([
        { job: null, problem: null },
      ]);
      expect(await watched()).toMatchObject([
        { label: "letter", label_state: null, label_problem: null },
      ]);
      await age();
      await classifyByHand("in/a.md", "offer", "Another version.");
      expect((await look([CLASSIFY, INVOICE])).decisions).toEqual([]);
      await classifyByHand("in/a.md", "invoice", "A bill.");
      expect((await look([CLASSIFY, INVOICE])).decisions).toMatchObject([
        { job: { kind: "extract", preset: "people", path: "in/a.md" } },
      ]);
    });

    test("a file that was classified long before it was taken is worked by that label", async () => {
      await look([INVOICE]);
      await classifyByHand("in/a.md", "invoice", "A bill.");
      await age();
      write("in/a.md", "A bill.");
      await rest();
      await look([INVOICE]);
      expect(await jobs()).toContainEqual({ ...INVOICE.job, path: "in/a.md" });
    });

    test("what was classified an hour ago is looked at by a process that begins, and by none that has gone on since", async () => {
      write("in/a.md", "A bill.");
      await rest();
      await look([CLASSIFY, INVOICE]);
      await finish(2, labelled("invoice"), "A bill.");
      await age();
      await desk.db.query(
        "update nightdesk_data.watched_files set seen_at = seen_at - interval '1 hour'",
      );
      const { decisions } = await look([CLASSIFY, INVOICE]);
      expect(decisions).toHaveLength(who === "begins anew" ? 1 : 0);
      const begun = await desk.look({ rules: [CLASSIFY, INVOICE] });
      expect(begun.decisions).toHaveLength(1 - decisions.length);
    });

    test("a file that was moved is worked by the label that it is given where it lies now", async () => {
      write("in/a.md", "A bill.");
      await rest();
      const rules = [{ ...CLASSIFY, move_to: "in/sorted" }, INVOICE];
      await look(rules);
      await finish(2, labelled("letter"), "A bill.");
      expect((await look(rules)).moves).toEqual([{ kind: "moved", path: "in/sorted/a.md" }]);
      expect((await look(rules)).decisions).toEqual([]);
      await age();
      await classifyByHand("in/sorted/a.md", "invoice", "A bill.");
      expect((await look(rules)).decisions).toMatchObject([
        { job: { kind: "extract", preset: "people", path: "in/sorted/a.md" } },
      ]);
    });

    test("more files than one look decides of are left to the next ones, each once", async () => {
      const texts = Array.from({ length: 210 }, (_, at) => `Bill ${at}.`);
      for (const [at, text] of texts.entries()) write(`in/${at}.md`, text);
      await rest();
      const taking = watchMemory();
      for (let looks = 0; looks < 2; looks += 1) await desk.look({ rules: [CLASSIFY] }, taking);
      await desk.db.query("delete from nightdesk_data.jobs where kind = 'index'");
      await finish(texts.length, refused);
      const counts = [];
      for (let looks = 0; looks < 3; looks += 1)
        counts.push((await look([CLASSIFY])).decisions.length);
      expect(counts).toEqual([200, 10, 0]);
    });

    test("a file that changes gets a job by its own label, and the old version none", async () => {
      write("in/a.md", "A bill.");
      await rest();
      const rules = [CLASSIFY, INVOICE, ANY];
      await look(rules);
      write("in/a.md", "A letter.");
      await rest();
      await look(rules);
      // The first job reads what is there now.
      await finish(4, labelled("letter"), "A letter.");
      await look(rules);
      expect((await jobs()).slice(2)).toEqual([{ kind: "summarize", path: "in/a.md" }]);
      expect(await watched()).toMatchObject([
        { label: null, label_problem: "it changed before it was classified" },
        { label: "letter", label_problem: null },
      ]);
      write("in/b.md", "Another bill.");
      await rest();
      await look(rules);
      await finish(3, labelled("invoice"), "Another bill.");
      write("in/b.md", "No bill any more.");
      await look(rules);
      expect((await watched()).at(-1)).toMatchObject({
        path: "in/b.md",
        label: "invoice",
        label_problem: "it changed, or is gone, since it was classified",
      });
      expect(await selectWatches(desk.db)).toMatchObject([{ passed_over: 2, failed: 0 }]);
    });

    test.each([
      ["refused", refused, "FILE_NOT_FOUND"],
      ["failed", failed, "MODEL_NOT_FOUND"],
    ])(
      "a file whose classification was %s is passed over with the reason",
      async (state, end, code) => {
        write("in/a.md", "A bill.");
        await rest();
        await look([CLASSIFY, INVOICE]);
        await finish(2, end);
        await look([CLASSIFY, INVOICE]);
        expect(await jobs()).toHaveLength(1);
        expect(await watched()).toMatchObject([
          { state, label: null, label_problem: `its classification was ${state}: ${code}` },
        ]);
        expect(await selectWatches(desk.db)).toMatchObject([{ passed_over: 1, failed: 0 }]);
      },
    );

    test("a classification that succeeds when it is tried again counts", async () => {
      write("in/a.md", "A bill.");
      await rest();
      await look([CLASSIFY, INVOICE]);
      await finish(2, failed);
      await look([CLASSIFY, INVOICE]);
      const [batch] = (await rows("select batch_id from nightdesk_data.batches")) as [
        { batch_id: string },
      ];
      await retryJobs(desk.db, batch.batch_id, ["failed"]);
      await finish(1, labelled("invoice"), "A bill.");
      expect((await look([CLASSIFY, INVOICE])).decisions).toMatchObject([{ problem: null }]);
      expect(await jobs()).toHaveLength(2);
    });

    test("or it goes to the rule for files without a label", async () => {
      write("in/a.md", "A bill.");
      await rest();
      const rules = [CLASSIFY, { ...UNCLASSIFIED, match: "*.txt" }, UNCLASSIFIED];
      await look(rules);
      await finish(2, refused);
      await look(rules);
      expect((await jobs()).slice(1)).toEqual([
        { kind: "ask", question: "What is it?", path: "in/a.md" },
      ]);
      expect((await look(rules)).decisions).toEqual([]);
    });

    test("a rule for a label has conditions on path and tags too", async () => {
      write("in/a.md", "---\ntags: [paid]\n---\nA bill.");
      await rest();
      const rules = [
        CLASSIFY,
        { ...INVOICE, match: "bills/**" },
        { ...ANY, tags: ["paid"] },
        INVOICE,
      ];
      await look(rules);
      await finish(2, labelled("invoice"), "---\ntags: [paid]\n---\nA bill.");
      await look(rules);
      expect((await jobs()).slice(1)).toEqual([{ kind: "summarize", path: "in/a.md" }]);
    });

    test("a file is moved once both of its jobs have succeeded, to where the rule for its label says", async () => {
      write("in/a.md", "A bill.");
      write("in/b.md", "A letter.");
      await rest();
      const rules = [
        { ...CLASSIFY, move_to: "sorted" },
        { ...INVOICE, move_to: "bills" },
      ];
      await look(rules);
      await finish(3, labelled("invoice"), "A bill.");
      // Of b.md what was classified is another text: it is passed over, and moved where the first rule says.
      expect((await look(rules)).moves).toEqual([{ kind: "moved", path: "sorted/b.md" }]);
      expect(existsSync(join(desk.workroot, "in/a.md"))).toBe(true);
      await finish(2, labelled("invoice"));
      expect((await look(rules)).moves).toEqual([{ kind: "moved", path: "bills/a.md" }]);
    });
  },
);
