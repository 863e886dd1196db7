import { nameOf, stepsOf } from "./completion-tree.ts";
import type { CompletionFlag, CompletionNode } from "./completion-tree.ts";

/** A script for bash 3.2 and later. */
export function bashCompletion(nodes: readonly CompletionNode[]): string {
  return `# bash completion of nightdesk
_nightdesk() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$command $word" in
${stepsOf(nodes).map(entryOf).join("\n")}
    esac
  done
  local words="" files=""
  case "$command" in
${nodes.map(caseOf).join("\n")}
  esac
  case "$command $previous" in
${nodes.flatMap(valuesOf).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $files && $current != -* ]]; then
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _nightdesk nightdesk`;
}

const pattern = (text: string): string => `'${text}'`;

const entryOf = ({ typed, command }: ReturnType<typeof stepsOf>[number]): string =>
  `      ${pattern(typed)}) command=${pattern(command)} ;;`;

function caseOf(node: CompletionNode): string {
  const words = [...node.words.map(({ word }) => word), ...node.flags.map(({ flag }) => flag)].join(
    " ",
  );
  return `    ${pattern(nameOf(node))}) words=${pattern(words)}${node.takesFiles ? " files=yes" : ""} ;;`;
}

const valuesOf = (node: CompletionNode): readonly string[] =>
  node.flags.flatMap((flag) => {
    const action = actionOf(flag.value);
    return action === undefined
      ? []
      : [`    ${pattern(`${nameOf(node)} ${flag.flag}`)}) ${action} ;;`];
  });

function actionOf(value: CompletionFlag["value"]): string | undefined {
  if (value === undefined) return undefined;
  if (value === "file") return "words='' files=yes";
  return value === "text" ? "words='' files=''" : `words=${pattern(value.join(" "))} files=''`;
}
