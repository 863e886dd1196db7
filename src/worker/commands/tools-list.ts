import { openContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { disabledBecause, presetsOf, selectPreset } from "../../shared/tool-presets.ts";
import type { Preset, WebSwitches } from "../../shared/tool-presets.ts";
import { TOOLS } from "../tools/registry.ts";

type ListedTool = {
  readonly name: string;
  readonly effect: string;
  readonly is_evidence: boolean;
  /** hidden: the preset does not hold it. disabled: it can't be used here, for the reason. */
  readonly state: "available" | "hidden" | "disabled";
  readonly reason: string | null;
  readonly presets: readonly string[];
  readonly description: string;
};

/** Lists tools and presets; with `--preset` which tools that one allows. */
export const toolsList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { config, terminal } = context;
  const { options } = invocation;
  const wanted = typeof options["preset"] === "string" ? options["preset"] : undefined;
  const preset = wanted === undefined ? undefined : selectPreset(config.tools.presets, wanted);
  if (typeof preset === "string") throw new Failure("NOT_FOUND", preset);
  const presets = presetsOf(config.tools.presets);
  const tools = TOOLS.tools.map(({ name, effect, isEvidence, description }): ListedTool => ({
    name,
    effect,
    is_evidence: isEvidence,
    ...stateOf(name, preset, config.tools.web),
    presets: presets.filter((each) => each.tools.includes(name)).map((each) => each.name),
    description,
  }));
  if (options["json"] === true) {
    await terminal.printJson({ ok: true, tools, presets });
    return EXIT.ok;
  }
  const columns = tools.map(({ name, state, reason, effect, description }) => [
    name,
    state,
    `effect ${effect}`,
    reason ?? description,
  ]);
  for (const line of aligned(columns)) await terminal.print(line);
  await terminal.print("");
  const shown = preset === undefined ? presets : [preset];
  for (const line of aligned(shown.map((each) => [each.name, each.tools.join(", ")]))) {
    await terminal.print(line);
  }
  return EXIT.ok;
};

function stateOf(
  name: string,
  preset: Preset | undefined,
  web: WebSwitches,
): Pick<ListedTool, "state" | "reason"> {
  if (preset !== undefined && !preset.tools.includes(name))
    return { state: "hidden", reason: null };
  const reason = disabledBecause(name, web) ?? null;
  return { state: reason === null ? "available" : "disabled", reason };
}

/** Columns as wide as what they hold, two blanks apart. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0),
  );
  return rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join("  "),
  );
}
