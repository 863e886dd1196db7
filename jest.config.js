export default {
  roots: ["<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "es6" } },
    ],
  },
  setupFiles: ["<rootDir>/tests/typescript-in-threads.js"],
  testTimeout: 60_000,
  // ESM modules of a test file are never freed: a worker that has grown collects garbage instead of testing.
  workerIdleMemoryLimit: "700MB",
};
