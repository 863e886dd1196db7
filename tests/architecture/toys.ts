/** A change of one file: its whole text, or replacements at places that it holds once. */
type Edit =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly changes: readonly (readonly [string, string])[] };

export type Toy = {
  /** Of its section in docs/extending.md. */
  readonly title: string;
  /** Of its own file, where it has one. */
  readonly name: string;
  readonly edits: readonly Edit[];
};

const KIND: Toy = {
  title: "A kind of job",
  name: "count",
  edits: [
    {
      file: "src/shared/job/job.ts",
      changes: [
        ['  "chat",\n  "command",\n', '  "chat",\n  "count",\n  "command",\n'],
        [
          "/** The input of a job; the `input` column of its row. */",
          'const countInput = z.strictObject({ kind: z.literal("count"), text });\nexport type CountInput = z.infer<typeof countInput>;\n',
        ],
        ["  chatInput,\n]);", "  chatInput,\n  countInput,\n]);"],
        [
          "  chat: chatInput,\n} as const;",
          "  chat: chatInput,\n  count: countInput,\n} as const;",
        ],
        ['  "chat",\n] as const;', '  "chat",\n  "count",\n] as const;'],
      ],
    },
    {
      file: "src/shared/job/kinds.ts",
      changes: [
        [
          "  embed: {\n    ...WITHOUT_MODEL,",
          '  count: {\n    ...WITHOUT_MODEL,\n    title: textAt("text"),\n    calls: [],\n    notRepeatable: "it asks no model",\n  },\n  embed: {\n    ...WITHOUT_MODEL,',
        ],
      ],
    },
    {
      file: "migrations/0001_jobs.sql",
      changes: [["'index', 'ocr', 'chat',", "'index', 'ocr', 'chat', 'count',"]],
    },
    {
      file: "src/worker/jobs/count.ts",
      text: `import type { CountInput } from "../../shared/job/job.ts";
import type { Outcome } from "../../shared/job/run-result.ts";

/** Counts the words of a text. */
export const countWords = async ({ text }: CountInput): Promise<Outcome> => ({
  kind: "succeeded",
  answer: \`\${text.split(" ").length} words\`,
  scope: null,
  citations: [],
  summary: null,
});
`,
    },
    {
      file: "src/worker/jobs/run-job.ts",
      changes: [
        [
          "  async chat(",
          '  async count({ input }) {\n    const { countWords } = await import("./count.ts");\n    return countWords(input);\n  },\n  async chat(',
        ],
      ],
    },
  ],
};

const FORMAT: Toy = {
  title: "A format of documents",
  name: "pages",
  edits: [
    {
      file: "src/worker/documents/formats/pages.ts",
      text: `import { NO_FRONTMATTER } from "../frontmatter.ts";
import { openPlaces } from "../places.ts";
import type { Format } from "./format.ts";
import type { Extractor } from "../extraction.ts";

/** Records of two bytes for the number of a page, two for a length, and so many of text: \`name = value\`. */
const RECORDS: Extractor = {
  version: "pages 1",
  async extract(bytes) {
    const places = openPlaces();
    let page = 0;
    let text = "";
    for (let at = 0; at < bytes.length;) {
      const end = at + 4 + (at + 4 > bytes.length ? 0 : bytes.readUInt16BE(at + 2));
      if (end > bytes.length) {
        const why = \`ends in the middle of page \${page + 1}: copy it again.\`;
        return { kind: "unreadable", code: "FILE_READ_ERROR", why, lasts: "always" };
      }
      page += 1;
      places.add({ start: text.length, locator: { page: bytes.readUInt16BE(at) } });
      text += \`\${bytes.toString("utf8", at + 4, end)}\\n\`;
      at = end;
    }
    return { kind: "text", text, places: places.pack() };
  },
};

/** Each record is a chunk under its name. */
export const PAGES: Format = {
  name: "pages",
  extensions: [".pages"],
  extractor: RECORDS,
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (lines, firstLine) => ({
    kind: "pieces",
    pieces: Array.from({ length: lines.count - firstLine }, (_, index) => {
      const [start, end] = [lines.start(firstLine + index), lines.end(firstLine + index)];
      return { start, end, headingPath: lines.text.slice(start, end).split(" = ")[0] ?? null };
    }),
  }),
};
`,
    },
    {
      file: "src/worker/documents/formats/registry.ts",
      changes: [
        [
          'import { PLAIN } from "./plain.ts";',
          'import { PAGES } from "./pages.ts";\nimport { PLAIN } from "./plain.ts";',
        ],
        ["  JSON_TEXT,\n", "  JSON_TEXT,\n  PAGES,\n"],
      ],
    },
  ],
};

const TOOL: Toy = {
  title: "A tool",
  name: "count-words",
  edits: [
    {
      file: "src/worker/tools/count-words.ts",
      text: `import { z } from "zod";
import { defineTool, outputOf } from "./tool.ts";

/** Counts the words of a file. */
export const COUNT_WORDS = defineTool({
  name: "count_words",
  description: "Counts the words of a text file.",
  args: z.strictObject({ path: z.string("a text") }),
  effect: "none",
  move: "count",
  isEvidence: false,
  limits: { callsPerRun: 2 },
  async run({ path }, { readFile }) {
    const reading = await readFile(path);
    return reading.kind === "refused" ? reading : outputOf(\`\${reading.text.split(" ").length} words\`);
  },
});
`,
    },
    {
      file: "src/worker/tools/all-tools.ts",
      changes: [
        [
          'import { LIST_FILES } from "./list-files.ts";',
          'import { COUNT_WORDS } from "./count-words.ts";\nimport { LIST_FILES } from "./list-files.ts";',
        ],
        ["  SHELL,\n]", "  SHELL,\n  COUNT_WORDS,\n]"],
      ],
    },
    {
      file: "src/shared/config/tool-presets.ts",
      changes: [
        ['  calculate: "none",', '  calculate: "none",\n  count_words: "none",'],
        ['  | "shell";', '  | "shell"\n  | "count_words";'],
      ],
    },
  ],
};

const PROVIDER: Toy = {
  title: "A provider of models",
  name: "echo",
  edits: [
    {
      file: "src/shared/config/providers.ts",
      changes: [
        [
          "  extractive: { hasHost: false, hasWeights: false },",
          "  extractive: { hasHost: false, hasWeights: false },\n  echo: { hasHost: false, hasWeights: false },",
        ],
      ],
    },
    {
      file: "src/worker/models/echo.ts",
      text: `import { charsIn } from "./model.ts";
import type { Model, ModelTask } from "./model.ts";

/** Says what it was shown. */
export const ECHO: Model = {
  name: "echo",
  facts: {
    provider: "echo",
    isFree: true,
    readsPrompts: false,
    digest: null,
    quantization: null,
    serverVersion: null,
    windowTokens: null,
    toolProtocol: "text",
    ignoresSchemas: false,
    options: {},
  },
  promptChars: () => Number.POSITIVE_INFINITY,
  complete: async ({ task }) => ({
    kind: "reply",
    text: echo(task),
    toolCalls: [],
    promptTokens: 0,
    completionTokens: 0,
    loadMs: 0,
    doneReason: "stop",
  }),
};

function echo(task: ModelTask): string {
  if (task.purpose === "chat" || task.purpose === "investigate" || charsIn(task.evidence) === 0) return "Echo";
  const piece = task.evidence.find(({ text }) => text.includes("ferries"));
  return piece === undefined ? "Echo" : \`Echo: \${piece.text} [\${piece.number}]\`;
}
`,
    },
    {
      file: "src/worker/models/create-model.ts",
      changes: [
        [
          "import { extractiveModel }",
          'import { ECHO } from "./echo.ts";\nimport { extractiveModel }',
        ],
        [
          '    case "ollama":\n',
          '    case "echo":\n      return always(async () => ECHO);\n    case "ollama":\n',
        ],
      ],
    },
  ],
};

const COLUMN: Toy = {
  title: "A column",
  name: "input_chars",
  edits: [
    {
      file: "migrations/0001_jobs.sql",
      changes: [
        [
          "  -- Bytes of its file, where it is known: small ones first.",
          "  input_chars integer check (input_chars > 0),\n  -- Bytes of its file, where it is known: small ones first.",
        ],
      ],
    },
    {
      file: "migrations/0004_views.sql",
      changes: [
        ["r.summary as output, ", "r.summary as output, j.input_chars, "],
        [
          "comment on column nightdesk.results.job_id is 'Id of the job.';",
          "comment on column nightdesk.results.job_id is 'Id of the job.';\ncomment on column nightdesk.results.input_chars is 'Characters of its input as JSON.';",
        ],
      ],
    },
    {
      file: "src/shared/store/jobs/insert-jobs.ts",
      changes: [
        ["size, rerun_of)\n       select", "size, rerun_of, input_chars)\n       select"],
        [
          "size, rerun_of\n         from target",
          "size, rerun_of, length(input::text)\n         from target",
        ],
      ],
    },
  ],
};

/** In the order of the document. */
export const TOYS: readonly Toy[] = [KIND, FORMAT, TOOL, PROVIDER, COLUMN];
