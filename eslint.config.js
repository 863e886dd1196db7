import importX from "eslint-plugin-import-x";
import { createTypeScriptImportResolver } from "eslint-import-resolver-typescript";
import tseslint from "typescript-eslint";

// A folder under src/ is a process; processes share only src/shared and start each other by
// spawning the bin. Read as: files in `target` may not import from `from`.
const processes = ["src/producer", "src/worker", "src/embedded", "src/dashboard", "src/serve"];
const rooms = (...names) => names.map((name) => `src/worker/${name}`);
const boundaries = [
  { target: "src/shared", from: [...processes, "src/main.ts"] },
  ...processes.map((target) => ({
    target,
    from: [...processes.filter((other) => other !== target), "src/main.ts"],
  })),
  // What a run is made of receives functions and returns an outcome, so that it runs without a database.
  {
    target: rooms(
      ...[
        "answer",
        "evidence",
        "models",
        "offload",
        "question",
        "sandbox",
        "text",
        "tools",
        "verify",
        "web",
      ],
    ),
    from: [
      ...["src/shared/queue", "src/shared/views", "src/shared/store/jobs"],
      "src/shared/store/connection/connect.ts",
    ],
  },
  // Rooms that all kinds of jobs use know no job, and nothing of how one is delivered.
  {
    target: rooms(
      ...["answer", "documents", "embedders", "evidence", "hosts", "index", "models", "question"],
      ...["mcp-client", "sandbox", "search", "text", "tools", "verify", "web"],
    ),
    from: rooms("jobs", "delivery", "services", "commands", "doctor", "replay", "mcp"),
  },
  {
    target: rooms("jobs"),
    from: rooms("delivery", "services", "commands", "doctor", "replay", "mcp"),
  },
  { target: rooms("delivery"), from: rooms("services", "jobs", "commands", "doctor", "replay") },
  // A job hands its judge to the loop that repairs an answer.
  { target: rooms("verify"), from: rooms("answer") },
  { target: rooms("answer"), from: rooms("verify") },
  { target: rooms("evidence", "search", "documents"), from: rooms("answer", "verify") },
  // A grade asks a model only through the function that it is handed.
  { target: rooms("answer", "evidence", "verify"), from: rooms("embedders") },
  { target: rooms("embedders", "models"), from: rooms("index", "search", "hosts", "answer") },
  { target: rooms("text"), from: rooms("answer", "evidence", "models", "verify") },
  // Tools are made of these rooms. What these know of tools is in text and in src/shared/config/tool-presets.ts.
  { target: rooms("evidence", "models", "text"), from: rooms("tools") },
  { target: "src/worker/offload", from: ["src/worker"], except: ["offload"] },
  // What people read is put together of what is stored, and nothing that is stored knows how it is shown.
  {
    target: ["src/shared/store", "src/shared/queue", "src/shared/config"],
    from: ["src/shared/views"],
  },
  // The pages are drawn of what is stored and read there; how a command is put together is no business of theirs.
  { target: "src/dashboard", from: ["src/shared/store/embedded"] },
  // The database process knows PGlite and the shared contract, and no SQL of ours but migrations.
  { target: "src/embedded", from: ["src/shared/queue", "src/shared/views"] },
];

// Packages with one door (or the few files named), so that replacing one is one file.
const doors = [
  {
    name: "bullmq",
    files: [
      "src/shared/queue/job-queue.ts",
      "src/shared/queue/queue-telemetry.ts",
      "src/shared/queue/storage.ts",
      "src/shared/store/queue-tables.ts",
    ],
  },
  { name: "ioredis", files: ["src/shared/queue/probe-queue.ts"] },
  {
    name: "pg",
    files: [
      "src/shared/store/connection/database.ts",
      "src/shared/store/connection/find-blocker.ts",
      "src/shared/store/connection/limited-client.ts",
    ],
  },
  { name: "pgvector", files: ["src/shared/store/index/vector-index.ts"] },
  {
    name: "yaml",
    files: [
      "src/shared/config/parse-yaml.ts",
      "src/worker/documents/frontmatter.ts",
      "src/worker/documents/formats/yaml.ts",
    ],
  },
  { name: "prom-client", files: ["src/shared/metrics/metrics.ts"] },
  {
    name: "@opentelemetry/api",
    files: ["src/shared/metrics/traces.ts", "src/shared/queue/queue-telemetry.ts"],
  },
  { name: "pino", files: ["src/shared/logger.ts"] },
  {
    name: "commander",
    files: ["src/main.ts", "src/shared/commands/build-program.ts"],
  },
  { name: "write-excel-file", files: ["src/producer/export/xlsx.ts"] },
  { name: "hyparquet-writer", files: ["src/producer/export/parquet.ts"] },
  { name: "@clack/core", files: ["src/producer/print/decision-prompt.ts"] },
  {
    name: "@modelcontextprotocol/server",
    files: ["src/worker/mcp/server.ts", "src/worker/mcp/http.ts"],
  },
  {
    name: "@modelcontextprotocol/client",
    files: [
      "src/worker/mcp-client/session.ts",
      "src/worker/mcp-client/program-transport.ts",
      "src/dashboard/tool-session.ts",
    ],
  },
  { name: "@modelcontextprotocol/server/stdio", files: ["src/worker/commands/mcp.ts"] },
  { name: "ollama", files: ["src/worker/models/ollama-client.ts"] },
  {
    name: "hono",
    files: ["src/dashboard/app.ts", "src/serve/app.ts", "src/shared/http/listen.ts"],
  },
  { name: "@hono/node-server", files: ["src/serve/app.ts", "src/shared/http/listen.ts"] },
  { name: "imapflow", files: ["src/worker/sync/imap.ts"] },
  { name: "aws4fetch", files: ["src/worker/sync/s3.ts"] },
  { name: "busboy", files: ["src/serve/receive-upload.ts"] },
  { name: "luxon", files: ["src/shared/schedules/time.ts"] },
  { name: "cron-parser", files: ["src/shared/schedules/cron-times.ts"] },
  { name: "ajv", files: ["src/worker/json-schema.ts"] },
  { name: "unbash", files: ["src/worker/sandbox/shell/read-command.ts"] },
  { name: "chardet", files: ["src/worker/documents/encoding.ts"] },
  { name: "htmlparser2", files: ["src/worker/web/html-text.ts"] },
  { name: "saxes", files: ["src/worker/documents/reader/walk-xml.ts"] },
  { name: "postal-mime", files: ["src/worker/documents/formats/mail.ts"] },
  { name: "unpdf", files: ["src/worker/documents/formats/pdf.ts"] },
  { name: "re2js", files: ["src/shared/schema/linear-pattern.ts"] },
  { name: "@electric-sql/pglite", files: ["src/embedded/open-database.ts"] },
  { name: "@electric-sql/pglite-pgvector", files: ["src/embedded/open-database.ts"] },
];
const closed = (allowed) => {
  const shut = doors.filter(({ files }) => !files.includes(allowed));
  const names = shut.map(({ name }) => name.replaceAll("/", "\\u002F")).join("|");
  return {
    "no-restricted-imports": [
      "error",
      {
        paths: [
          ...shut.map(({ name, files }) => ({
            name,
            message: `Go through ${files.join(" or ")}.`,
          })),
          {
            name: "node:process",
            importNames: ["env"],
            message: "Only src/main.ts reads the environment.",
          },
        ],
      },
    ],
    "no-restricted-syntax": [
      "error",
      {
        selector: `ImportExpression > Literal[value=/^(${names})$/]`,
        message: "A package with a door is imported there, and nowhere else lazily either.",
      },
    ],
  };
};
const doorFiles = [...new Set(doors.flatMap(({ files }) => files))];

export default tseslint.config(
  { ignores: ["dist", "node_modules", ".ci/cache", "examples", "coverage"] },
  ...tseslint.configs.strictTypeChecked,
  {
    files: ["**/*.ts"],
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { "import-x": importX },
    settings: {
      "import-x/extensions": [".ts"],
      "import-x/resolver-next": [createTypeScriptImportResolver()],
    },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/require-await": "off",
      "import-x/no-default-export": "error",
      "import-x/no-restricted-paths": ["error", { zones: boundaries }],
      "max-params": ["error", 4],
      "no-console": "error",
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "Only src/main.ts reads the environment." },
        {
          object: "URL",
          property: "canParse",
          message: "Node 20 says false of letters like ü: parseUrl.",
        },
      ],
    },
  },
  { files: ["src/**/*.ts"], rules: closed() },
  ...doorFiles.map((file) => ({ files: [file], rules: closed(file) })),
  {
    files: ["src/main.ts", "tests/**/*.ts", "bench/**/*.ts"],
    rules: {
      "no-restricted-properties": "off",
      // Characters are code points, and spreading a string is how JavaScript counts them.
      "@typescript-eslint/no-misused-spread": "off",
    },
  },
  { files: ["bench/**/*.ts"], rules: { "no-console": "off" } },
  { files: ["**/*.js"], ...tseslint.configs.disableTypeChecked },
);
