import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { describeOn } from "../support/describe-on.ts";
import { insertMemory } from "../support/insert-memory.ts";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk, ReplayOptions } from "../support/replay-desk.ts";
import type { Ended } from "../support/run-bin.ts";
import { isFirstPass } from "../support/first-pass.ts";
import { callFor } from "../support/pipeline-world.ts";

/** Line ends, a byte order mark and characters beyond U+FFFF: offsets have to count them alike. */
const RAIL =
  "\uFEFF# Rail 🚋\r\n\r\nTrains run every 20 minutes — äöü 🚋🚋.\r\n\r\n## Night 🌙\r\n\r\nNo train runs after midnight.\r\n";
const LONG = Array.from(
  { length: 1_500 },
  (_, line) => `Entry ${line}: the ferry left the quay and came back at dusk, as usual.\n`,
).join("");

const CLAIMS = JSON.stringify({
  declined: false,
  missing: null,
  claims: [{ quote: null, text: "Trains run every 20 minutes.", cites: [1] }],
});
/** A model that reads the file, and then answers. */
const framed =
  (answer: (messages: readonly DoubleMessage[]) => string) =>
  (messages: readonly DoubleMessage[]): string =>
    isFirstPass(messages) ? callFor("rail.md") : answer(messages);

describeOn("postgres", "runs that are repeated", (name) => {
  let desk: ReplayDesk;
  /** What the model says next: to choose what is read, then to answer, then to answer again. */
  let script: { select: string; answers: string[] };

  beforeAll(async () => {
    desk = await openReplayDesk(
      name,
      [
        {
          name: "writer",
          contextLength: 4_096,
          respond: (messages) => {
            if (isFirstPass(messages)) return script.select;
            return script.answers.length > 1
              ? (script.answers.shift() ?? "")
              : (script.answers[0] ?? "");
          },
        },
        {
          name: "caller",
          contextLength: 4_096,
          capabilities: ["completion", "tools"],
          respond: (messages, { tools }) => {
            if (!isFirstPass(messages)) return "Every 20 minutes [1].";
            return tools === undefined
              ? callFor("rail.md")
              : { text: "", failure: { status: 500, error: "error parsing tool call: no JSON" } };
          },
        },
        { name: "framer", contextLength: 4_096, respond: framed(() => CLAIMS) },
        // It keeps to a schema only where nobody asks for one.
        {
          name: "rambler",
          contextLength: 4_096,
          respond: framed((messages) =>
            messages[0]?.content.includes('{"declined"') === true
              ? '{"answer": "Every 20 minutes [1]."}'
              : "Trains run every 20 minutes [1].",
          ),
        },
        {
          name: "native",
          contextLength: 4_096,
          capabilities: ["completion", "tools"],
          respond: (messages) =>
            isFirstPass(messages)
              ? { text: "", toolCalls: [{ name: "read_text_file", args: { path: "rail.md" } }] }
              : "Every 20 minutes [1].",
        },
        // The exam of a judge would be asked for meanwhile; judge.test.ts repeats what a judge had a say in.
      ],
      { keys: { verify: { judge: { model: "off" } } } },
    );
    await desk.write("allowed/corpus/rail.md", RAIL);
    await desk.write("allowed/corpus/long.md", LONG);
    await desk.write("allowed/scratch/keep.md", "Nothing.\n");
    await desk.work({ kind: "index", options: { embed: false } });
  });
  afterAll(() => desk.dispose());
  beforeEach(() => {
    script = { select: "ENOUGH", answers: ["Every 20 minutes [1]."] };
  });

  const chats = () => desk.double.requests.filter(({ path }) => path === "/api/chat").length;
  /** Of the two passages of rail.md the second one says how often. */
  const askPassages = () => {
    script.answers = script.answers.map((answer) => answer.replaceAll("[1]", "[2]"));
    return desk.work({ kind: "ask", question: "How often do trains run?" });
  };
  const askFile = () => {
    script.select = callFor("rail.md");
    return desk.work({ kind: "ask", question: "How often do trains run by rail.md?" });
  };

  const askSeveral = (names: string) => {
    script.select = callFor("rail.md");
    return desk.work({ kind: "ask", question: `How often do they run by ${names}?` });
  };
  const askBy = (model: string) =>
    desk.work({
      kind: "ask",
      question: "How often do trains run by rail.md?",
      options: { model },
    });
  const BOTH = ["first", "second"];
  const ANSWER = /^Trains run every 20 minutes \[1\]\.\nScope:/;
  const answerOf = async (jobId: string): Promise<unknown> => {
    const { rows } = await desk.db.query("select answer from nightdesk.results where job_id = $1", [
      jobId,
    ]);
    return rows;
  };

  type Report = {
    readonly ok: boolean;
    readonly state: string;
    readonly repeated: {
      readonly files: number;
      readonly calls_then: number;
      readonly calls: readonly { readonly pass: string; readonly request: string }[];
      readonly stopped: string | null;
      readonly differences: readonly { readonly what: string }[];
    };
  };

  async function report(jobId: string, options: ReplayOptions = {}): Promise<Report & Ended> {
    const ran = await desk.replay(jobId, { ...options, flags: ["--json"] });
    return { ...(JSON.parse(ran.stdout) as Report), ...ran };
  }

  describe("a run is repeated to the same result, and no model is asked", () => {
    test.each([
      ["an answer from passages", askPassages, ["first", "second"]],
      ["an answer from a file", askFile, ["first", "second"]],
      [
        "an answer at the second try",
        () => {
          script.answers = ["| a | b |\n|---|---|\n| 1 | 2 |", "Every 20 minutes [1]."];
          return askPassages();
        },
        ["first", "second", "retry"],
      ],
      [
        "a refusal by what the model wrote",
        () => {
          script.answers = ["Every 20 minutes."];
          return askPassages();
        },
        ["first", "second", "retry"],
      ],
      [
        "a refusal because the model read nothing",
        () => {
          script.select = "Every 5 minutes, trust me.";
          return desk.work({ kind: "ask", question: "How often do trains run by rail.md?" });
        },
        ["first"],
      ],
      [
        "an answer from several files, one of them named twice",
        () => askSeveral("rail.md, keep.md and allowed/corpus/rail.md"),
        BOTH,
      ],
      ["an answer after a tool call by the host's own protocol", () => askBy("native"), BOTH],
      ["an answer after a tool call that the host could not read", () => askBy("caller"), BOTH],
      [
        "a chat",
        () => {
          script.answers = ["Hello."];
          return desk.work({ kind: "chat", prompt: "Say hello", max_tokens: 9, temperature: 0.5 });
        },
        ["chat"],
      ],
      [
        "a summary",
        () => {
          script.answers = ["Trains run often."];
          return desk.work({ kind: "summarize", path: "allowed/corpus/rail.md" });
        },
        ["second"],
      ],
    ])("%s", async (_, work, passes) => {
      const jobId = await work();
      const before = chats();
      const found = await report(jobId);
      expect(found).toMatchObject({
        code: 0,
        ok: true,
        repeated: { stopped: null, differences: [] },
      });
      expect(found.repeated.calls.map(({ pass, request }) => [pass, request])).toEqual(
        passes.map((pass) => [pass, "same"]),
      );
      expect(chats()).toBe(before);
    });

    test("a tree of summaries, part by part", async () => {
      script.answers = ["Ferries left and came back."];
      const jobId = await desk.work({ kind: "summarize", path: "allowed/corpus/long.md" });
      const found = await report(jobId);
      expect(found).toMatchObject({ code: 0, ok: true });
      expect(found.repeated.calls.length).toBeGreaterThan(10);
      expect(found.repeated.calls).toHaveLength(found.repeated.calls_then);
    });

    test.each([
      ["one of several files that is missing", () => askSeveral("rail.md and gone.md")],
      [
        "more files than a run reads",
        async () => {
          const names = Array.from({ length: 9 }, (_, at) => `n${at}.md`);
          for (const name of names) await desk.write(`allowed/scratch/${name}`, "Nothing.\n");
          const jobId = await askSeveral(names.join(", "));
          for (const name of names) await desk.remove(`allowed/scratch/${name}`);
          return jobId;
        },
      ],
    ])("a refusal because of %s", async (_, work) => {
      const found = await report(await work());
      expect(found).toMatchObject({
        code: 0,
        ok: true,
        repeated: { calls_then: 0, stopped: null },
      });
      expect(found.state).toMatch(/^refused with (?:FILE_NOT_FOUND|INVALID_ARGS)$/);
    });

    test("an answer from several files beyond the window, part by part", async () => {
      script.answers = ["The ferry came back at dusk [1]."];
      const jobId = await askSeveral("long.md and rail.md");
      const found = await report(jobId);
      expect(found).toMatchObject({
        code: 0,
        ok: true,
        state: "succeeded",
        repeated: { files: 2 },
      });
      expect(found.repeated.calls.length).toBeGreaterThan(10);
      expect(found.repeated.calls).toHaveLength(found.repeated.calls_then);
      const { rows } = await desk.db.query(
        "select distinct path from nightdesk.summary_parts where job_id = $1",
        [jobId],
      );
      expect(rows).toEqual([{ path: "allowed/corpus/long.md" }]);
    });

    describe("an answer from the beginning of a file beyond the window, with its own passages", () => {
      const TOPICS = ["dredger", "harbour master", "pilot"];
      // Of other documents, so that the snapshot holds none of the file that is named.
      const notes = TOPICS.flatMap((who) =>
        Array.from({ length: 12 }, (_, at) => ({
          path: `allowed/corpus/${who}-${at}.md`,
          text: `The ${who} spoke. What did the ${who} say?\n`,
        })),
      );
      const log = LONG.split("\n");
      const said: readonly (readonly [number, string | undefined])[] = [
        ...[700, 1_200].map((line) => [line, TOPICS[0]] as const),
        ...[3, 900].map((line) => [line, TOPICS[1]] as const),
        ...[5, 25].map((line) => [line, TOPICS[2]] as const),
      ];
      for (const [line, who] of said) log[line] = `Entry ${line}: the ${who} spoke of the ferry.`;

      beforeAll(async () => {
        for (const { path, text } of notes) await desk.write(path, text);
        await desk.write("allowed/corpus/log.md", log.join("\n"));
        await desk.work({ kind: "index", options: { embed: false } });
      });
      afterAll(async () => {
        for (const { path } of notes) await desk.remove(path);
        await desk.remove("allowed/corpus/log.md");
        await desk.work({ kind: "index", options: { embed: false } });
      });

      test.each([
        ["behind it", "dredger", "2"],
        ["in it and behind it", "harbour master", "1"],
        ["in it alone", "pilot", undefined],
      ])("that stand %s", async (_, who, beside) => {
        script = { select: callFor("log.md"), answers: ["The ferry came back at dusk [1]."] };
        const question = `What did the ${who} say by log.md?`;
        const jobId = await desk.work({ kind: "ask", question });
        const { rows } = await desk.db.query(
          "select state, scope from nightdesk.results where job_id = $1",
          [jobId],
        );
        const footer = /^Scope: partial evidence from read_text_file .*?(?:; (\d+) passages? |$)/;
        const [{ scope, state }] = rows as [{ scope: string; state: string }];
        expect({ state, beside: footer.exec(scope)?.[1] }).toEqual({ state: "succeeded", beside });
        const found = await report(jobId);
        expect(found).toMatchObject({
          code: 0,
          ok: true,
          repeated: { stopped: null, differences: [] },
        });
      });
    });

    test("a refusal of the host, which took the prompt for too long", async () => {
      const jobId = await desk.work({ kind: "chat", prompt: "word ".repeat(5_000) });
      const found = await report(jobId);
      expect(found).toMatchObject({ code: 0, ok: true, state: "refused with CONTEXT_OVERFLOW" });
      expect(found.repeated.calls).toHaveLength(1);
    });

    test("an answer from claims, whatever form is configured now", async () => {
      const id = await askBy("framer");
      expect(await answerOf(id)).toEqual([{ answer: expect.stringMatching(ANSWER) }]);
      for (const form of ["auto", "claims", "text"]) {
        const repeated = await report(id, { config: { ask: { answer_form: form } } });
        expect(repeated).toMatchObject({ ok: true, repeated: { differences: [] } });
      }
    });

    test("an answer in text after a reply that ignored the schema, and the next one, asked in text at once", async () => {
      for (const passes of [["first", "second", "second"], BOTH]) {
        const id = await askBy("rambler");
        expect(await answerOf(id)).toEqual([{ answer: expect.stringMatching(ANSWER) }]);
        const repeated = await report(id, { config: { ask: { answer_form: "claims" } } });
        expect(repeated).toMatchObject({ ok: true, repeated: { differences: [] } });
        expect(repeated.repeated.calls.map(({ pass }) => pass)).toEqual(passes);
      }
    });
  });

  describe("a run whose files are not what it read is refused, with their names", () => {
    const expectRefused = ({ code, stdout }: Ended, reason: string) => {
      expect(code).toBe(4);
      expect(JSON.parse(stdout)).toMatchObject({
        ok: false,
        error_code: "EVIDENCE_INVALID",
        error_message: expect.stringContaining(`allowed/corpus/rail.md (${reason})`),
        files: [{ path: "allowed/corpus/rail.md", reason }],
      });
    };

    test.each([
      ["changed", "changed", () => desk.write("allowed/corpus/rail.md", `${RAIL}.`)],
      ["deleted", "FILE_NOT_FOUND", () => desk.remove("allowed/corpus/rail.md")],
      [
        "made a link out of the roots",
        "PATH_DENIED",
        async () => {
          await desk.write("outside.md", RAIL);
          await desk.remove("allowed/corpus/rail.md");
          await symlink(
            join(desk.workroot, "outside.md"),
            join(desk.workroot, "allowed/corpus/rail.md"),
          );
        },
      ],
    ])("when one was %s, and repeated once it is back", async (_, reason, spoil) => {
      const jobId = await askFile();
      await spoil();
      try {
        expectRefused(await desk.replay(jobId, { flags: ["--json"] }), reason);
        const { code, stderr, stdout } = await desk.replay(jobId);
        expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
        expect(stderr).toMatch(/^Refused: EVIDENCE_INVALID: Run [0-9a-f-]{36} can't be repeated/);
      } finally {
        await desk.remove("allowed/corpus/rail.md").catch(() => undefined);
        await desk.write("allowed/corpus/rail.md", RAIL);
      }
      expect((await desk.replay(jobId)).code).toBe(0);
    });

    test("when the sandbox denies one now", async () => {
      const jobId = await askFile();
      const denying = { security: { allowed_exts: [".txt"] } };
      expectRefused(
        await desk.replay(jobId, { config: denying, flags: ["--json"] }),
        "PATH_DENIED",
      );
    });
  });

  describe("a run is repeated from its record, whatever is configured, installed or indexed now", () => {
    test.each([
      ["another configuration", { model: { max_tokens: 77 } }],
      ["another seed", { model: { seed: 7 } }],
      ["another model", { model: { name: null, fast: "f", big: "b" } }],
      ["no model host", { model: { base_url: "http://127.0.0.1:9" } }],
    ])("under %s", async (_, config) => {
      const jobId = await askPassages();
      const before = chats();
      expect(await report(jobId, { config })).toMatchObject({ code: 0, ok: true });
      expect(chats()).toBe(before);
    });

    test("is another result where a rule of now forbids the answer of then", async () => {
      script.answers = ["Every 20 minutes [allowed/corpus/rail.md]."];
      const jobId = await askPassages();
      const citations = { heading_match: "exact" };
      const found = await report(jobId, { config: { ask: { citations } } });
      expect(found).toMatchObject({ code: 1, ok: false });
      expect(found.repeated.stopped).not.toBeNull();
      expect(found.repeated.calls).toHaveLength(2);
    });

    test("though a search finds other passages now", async () => {
      const jobId = await askPassages();
      await desk.write("allowed/corpus/trains.md", "How often do trains run? Trains run often.\n");
      await desk.work({ kind: "index", options: { embed: false } });
      const found = await report(jobId);
      await desk.remove("allowed/corpus/trains.md");
      await desk.work({ kind: "index", options: { embed: false } });
      expect(found).toMatchObject({ code: 0, ok: true });
    });

    test("though a file is there that was not there then", async () => {
      script.select = callFor("ghost.md");
      const jobId = await desk.work({ kind: "ask", question: "What does ghost.md say?" });
      await desk.write("allowed/scratch/ghost.md", "Boo.\n");
      const found = await report(jobId);
      await desk.remove("allowed/scratch/ghost.md");
      expect(found).toMatchObject({ code: 0, ok: true, state: "refused with FILE_NOT_FOUND" });
    });

    test("shows a note of several lines as the prompt showed it", async () => {
      await insertMemory(desk.db, "constraint", "Be brief.\nBe kind.");
      const jobId = await askPassages();
      await desk.db.query("delete from nightdesk_data.memory where type <> 'constraint'");
      expect((await desk.replay(jobId)).code).toBe(0);
      await desk.db.query("delete from nightdesk_data.memory");
    });

    test("but a prompt whose note was deleted can't be repeated", async () => {
      const kept = await insertMemory(desk.db, "preference", "Be brief.");
      const jobId = await askPassages();
      expect(await report(jobId)).toMatchObject({ code: 0, ok: true });

      await desk.db.query("delete from nightdesk_data.memory where memory_id = $1", [kept]);
      const gone = await report(jobId);
      expect(gone).toMatchObject({ code: 1, ok: false });
      expect(gone.repeated.stopped).not.toBeNull();
      expect(gone.repeated.calls.map(({ pass }) => pass)).toEqual(["first"]);
    });
  });

  describe("what can't be repeated", () => {
    test("an index or embed run, which no model has a say in", async () => {
      const jobId = await desk.work({ kind: "embed", text: "x" });
      const { code, stderr } = await desk.replay(jobId);
      expect(code).toBe(1);
      expect(stderr).toContain("INPUT_INVALID");
      expect(stderr).toContain(
        "of ask, summarize, extract, digest, investigate and chat are repeated",
      );
    });

    test("a run that came to no result", async () => {
      const jobId = await desk.work({
        kind: "ask",
        question: "How often do trains run?",
        options: { model: "ghost" },
      });
      const { code, stderr } = await desk.replay(jobId);
      expect(code).toBe(1);
      expect(stderr).toMatch(/INPUT_INVALID: Run [0-9a-f-]{36} is failed/);
    });

    test("what is no run", async () => {
      expect((await desk.replay("tonight")).stderr).toContain("NOT_FOUND");
      expect((await desk.replay("00000000-0000-4000-8000-000000000000")).stderr).toContain(
        "NOT_FOUND",
      );
    });
  });
});
