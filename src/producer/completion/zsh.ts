import { nameOf, stepsOf } from "./completion-tree.ts";
import type { CompletionFlag, CompletionNode } from "./completion-tree.ts";

/** A script for a file `_nightdesk` in a folder of fpath, or for sourcing. */
export function zshCompletion(nodes: readonly CompletionNode[]): string {
  return `#compdef nightdesk
_nightdesk() {
  local command="" word index
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    case "$command $word" in
${stepsOf(nodes).map(entryOf).join("\n")}
    esac
  done
  local -a after
  case "$command $words[CURRENT-1]" in
${nodes.flatMap(valuesOf).join("\n")}
  esac
  case "$command" in
${nodes.map(caseOf).join("\n")}
  esac
}
if [ "$funcstack[1]" = "_nightdesk" ]; then _nightdesk "$@"; else compdef _nightdesk nightdesk; fi`;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Escapes colons, because in a list of descriptions a colon ends the word. */
const described = (word: string, description: string): string =>
  quote(`${word.replaceAll(":", "\\:")}:${description}`);

const entryOf = ({ typed, command }: ReturnType<typeof stepsOf>[number]): string =>
  `      ${quote(typed)}) command=${quote(command)} ;;`;

function caseOf(node: CompletionNode): string {
  const entries = [
    ...node.words.map(({ word, summary }) => described(word, summary)),
    ...node.flags.map(({ flag, description }) => described(flag, description)),
  ];
  return `    ${quote(nameOf(node))}) after=(${entries.join(" ")}); _describe nightdesk after${node.takesFiles ? "; _files" : ""} ;;`;
}

const valuesOf = (node: CompletionNode): readonly string[] =>
  node.flags.flatMap((flag) => {
    const action = actionOf(flag.value);
    return action === undefined
      ? []
      : [`    ${quote(`${nameOf(node)} ${flag.flag}`)}) ${action}; return ;;`];
  });

function actionOf(value: CompletionFlag["value"]): string | undefined {
  if (value === undefined) return undefined;
  if (value === "file") return "_files";
  return value === "text" ? ":" : `compadd ${value.map(quote).join(" ")}`;
}
