// Cycles, also those that only types close: import-x/no-cycle in eslint.config.js does not see them.
export default {
  forbidden: [
    { name: "no-cycle-by-type", severity: "error", from: { path: "^src" }, to: { circular: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "node_modules" },
  },
};
