import { expect, test } from "@jest/globals";
import { compareDates, findWrittenDate, periodOf } from "../../../src/shared/text/date-period.ts";

test.each([
  ["2025-03-14 price list", "2025-03-14"],
  ["price_list_20250314", "2025-03-14"],
  ["Preisliste 14.03.2025", "2025-03-14"],
  ["report March 2025", "2025-03"],
  ["report-14-march-2025", "2025-03-14"],
  ["Bericht 3. März 2025", "2025-03-03"],
  ["acta 5 de mayo de 2024", "2024-05-05"],
  ["rapport août 2024", "2024-08"],
  ["2025-Mar figures", "2025-03"],
  ["May 3, 2025 notes", "2025-05-03"],
  ["Q1 2026 forecast", "2026-Q1"],
  ["forecast-2026-q1", "2026-Q1"],
  ["Zahlen 1. Quartal 2026", "2026-Q1"],
  ["H2 2025 results", "2025-H2"],
  ["報告 2025年3月14日", "2025-03-14"],
  ["price list 2025", "2025"],
  ["2025-03 minutes", "2025-03"],
  ["2025-02-30 price list", "2025-02"],
  ["invoice 20253014", null],
  ["flat 3", null],
  ["article 12345678", null],
])("%s names %s", (text, date) => {
  expect(findWrittenDate(text)?.date ?? null).toBe(date);
});

test.each([
  ["2025", { from: "2025-01-01", to: "2025-12-31" }],
  ["2024-02", { from: "2024-02-01", to: "2024-02-29" }],
  ["2026-Q1", { from: "2026-01-01", to: "2026-03-31" }],
  ["2025-H2", { from: "2025-07-01", to: "2025-12-31" }],
  ["2025-03-14", { from: "2025-03-14", to: "2025-03-14" }],
  ["2025-02-30", null],
  ["2025-13", null],
])("%s means %j", (date, period) => {
  expect(periodOf(date)).toEqual(period);
});

test.each([
  ["2025", "2026-Q1", -1],
  ["2026-03", "2026-Q1", null],
  ["2026-Q2", "2026-Q1", 1],
  ["2025", "2025-03", null],
  ["2025-03-14", "2025-03-14", 0],
] as const)("%s beside %s: %s", (one, other, order) => {
  expect(compareDates(one, other)).toBe(order);
});

test("a name of many digits and months takes no longer than its length", () => {
  const startedAt = performance.now();
  findWrittenDate("2025-mar-".repeat(50_000));
  findWrittenDate("1 1 1 ".repeat(50_000));
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
