import { serverTests } from "./tests/services/server-tests.js";

// What `npm test` leaves to `npm run test:all`: whole evenings, faults, limits, and what only a release needs. Of the
// conformance suites the quick tests have those of the store and of the queue.
const SLOW_FOLDERS = ["dashboard/browser", "deploy", "docs", "faults", "limits", "scenarios"];
// Each takes 9 s or more, or takes a while wherever it has to wait (`npm run test:all -- --times`).
const SLOW_FILES = [
  "architecture/extend",
  "architecture/import-rules",
  "dashboard/live",
  "dashboard/safety",
  "dashboard/start",
  "embedded/empty-database",
  "embedded/turns",
  "embedded/upkeep",
  "embedded/wire",
  "examples/formats",
  "producer/approvals-review",
  "producer/commands/files-on-stdin",
  "producer/model-host",
  "producer/screens",
  "producer/watch/wait",
  "shared/config/found-file",
  "worker/answer/realistic-replies",
  "worker/doctor/check-index",
  "worker/doctor/run-repairs",
  "worker/documents/formats/yaml",
  "worker/documents/reader/reader",
  "worker/embedders/transformers/entailment",
  "worker/embedders/transformers/reranker",
  "worker/embedders/transformers/transformers",
  "worker/hosts/slots",
  "worker/index/attachments",
  "worker/index/compact-postings",
  "worker/index/concurrent-scans",
  "worker/index/edit-sequences",
  "worker/index/hostile-files",
  "worker/index/index-integrity",
  "worker/index/index-sources",
  "worker/index/known-failures",
  "worker/index/long-documents",
  "worker/index/vector-index",
  "worker/index/watch-labels",
  "worker/index/watch-source",
  "worker/jobs/drift-policies-properties",
  "worker/jobs/investigate-approvals",
  "worker/jobs/investigate-grants",
  "worker/jobs/long-file",
  "worker/jobs/obeying-fields",
  "worker/jobs/obeying-model",
  "worker/jobs/summarize-file",
  "worker/models/conformance",
  "worker/models/extractive/example-questions",
  "worker/models/llama-server",
  "worker/models/slow-drips",
  "worker/models/transformers",
  "worker/ocr/read-pages",
  "worker/sandbox/shell/corpus",
  "worker/sandbox/shell/escapes",
  "worker/sandbox/swap-race",
  "worker/sandbox/traversal",
  "worker/search/filtered-words",
  "worker/search/languages",
  "worker/search/rerank",
  "worker/search/search",
  "worker/search/search-plan",
  "worker/search/spelling",
  "worker/services/hooks",
  "worker/verify/checks/corpus",
  "worker/verify/claims/rates",
  "worker/verify/split-claims",
];
const SLOW = [
  ...SLOW_FOLDERS.map((name) => `/tests/${name}/`),
  "/tests/conformance/(?!store|queue)",
  ...SLOW_FILES.map((name) => `/tests/${name}\\.test\\.ts$`),
];
/** By the name that scripts/test.js gives a run: what it leaves out. */
const LEFT_OUT = {
  quick: SLOW,
  busy: ["/tests/(limits|conformance|faults|scenarios)/"],
  waiting: ["/tests/(?!(conformance|faults|scenarios)/)"],
  limits: ["/tests/(?!limits/)"],
};

const literally = (path) => path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

export default {
  roots: ["<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  testPathIgnorePatterns: [
    "/node_modules/",
    ...(LEFT_OUT[process.env.NIGHTDESK_TESTS] ?? []),
    ...(process.env.TEST_DATABASE_URL === undefined ? serverTests().map(literally) : []),
  ],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "es6" } },
    ],
  },
  reporters: [
    "default",
    ...(process.env.NIGHTDESK_RUNNING_FILES === undefined
      ? []
      : ["<rootDir>/tests/services/running-files.js"]),
  ],
  testRunner: "<rootDir>/tests/services/run-test-file.js",
  testSequencer: "<rootDir>/tests/services/longest-first.js",
  setupFiles: ["<rootDir>/tests/typescript-in-threads.js"],
  testTimeout: 60_000,
  // ESM modules of a test file are never freed: a worker that has grown collects garbage instead of testing.
  workerIdleMemoryLimit: "700MB",
};
