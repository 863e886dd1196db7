/** What a reply is expected to be read as: the path of a read of one file, unless it says otherwise. */
export type FamilyReply = {
  readonly family: string;
  readonly what: string;
  readonly reply: string;
  readonly name?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** What follows the call; nothing unless it says otherwise. */
  readonly trailing?: string;
};

const JSON_ARGS = '{"path": "notes/rail.md"}';
const NATIVE = `{"name": "read_text_file", "arguments": ${JSON_ARGS}}`;
const OTHER = '{"name": "read_text_file", "arguments": {"path": "notes/bus.md"}}';
const AS_TEXT = JSON.stringify(JSON_ARGS);
const XML = "<function=read_text_file>\n<parameter=path>\nnotes/rail.md\n</parameter>\n</function>";

const of = (family: string, what: string, reply: string, more: Partial<FamilyReply> = {}) => ({
  family,
  what,
  reply,
  ...more,
});
const further = "(a further call of read_text_file)";

/** Calls as models of each family write them in words, as their templates and the parsers of hosts show them. */
export const FAMILY_REPLIES: readonly FamilyReply[] = [
  of("Hermes", "a tag", `<tool_call>\n${NATIVE}\n</tool_call>`),
  of(
    "Hermes",
    "arguments first",
    `<tool_call>{"arguments": ${JSON_ARGS}, "name": "read_text_file"}</tool_call>`,
  ),
  of(
    "Hermes",
    "arguments as JSON text",
    `<tool_call>\n{"name": "read_text_file", "arguments": ${AS_TEXT}}\n</tool_call>`,
  ),
  of(
    "Hermes",
    "thinking before it",
    `<think>\nThe user names rail.md.\n</think>\n\n<tool_call>\n${NATIVE}\n</tool_call><|im_end|>`,
  ),
  of(
    "Hermes",
    "two calls",
    `<tool_call>\n${NATIVE}\n</tool_call>\n<tool_call>\n${OTHER}\n</tool_call>`,
    {
      trailing: `<tool_call>\n${OTHER}\n</tool_call>`,
    },
  ),
  of("Hermes", "words behind it", `<tool_call>${NATIVE}</tool_call>\nI will wait for the result.`, {
    trailing: "I will wait for the result.",
  }),
  of("Hermes", "no end tag", `<tool_call>\n${NATIVE}`),
  of("Hermes", "a fence inside", `<tool_call>\n\`\`\`json\n${NATIVE}\n\`\`\`\n</tool_call>`),
  of(
    "Hermes",
    "another tool",
    `<tool_call>{"name": "run_shell", "arguments": {"command": "ls"}}</tool_call>`,
    {
      name: "run_shell",
      args: { command: "ls" },
    },
  ),
  of(
    "OpenAI",
    "its own shape in words",
    `{"type": "function", "function": {"name": "read_text_file", "arguments": ${AS_TEXT}}}`,
  ),
  of(
    "OpenAI",
    "in a fence",
    `\`\`\`json\n{"name": "read_text_file", "arguments": ${AS_TEXT}}\n\`\`\``,
  ),
  of("xLAM", "a list", `[${NATIVE}]`),
  of("xLAM", "a list of two", `[${NATIVE}, ${OTHER}]`, { trailing: further }),

  of("Mistral", "name and arguments", `[TOOL_CALLS]read_text_file[ARGS]${JSON_ARGS}`),
  of("Mistral", "an id", `[TOOL_CALLS]read_text_file[CALL_ID]a1B2c3D4e[ARGS]${JSON_ARGS}</s>`),
  of("Mistral", "its marks half gone", `[TOOL_CALLS]read_text_file${JSON_ARGS}`),
  of(
    "Mistral",
    "a list",
    `[TOOL_CALLS] [{"name": "read_text_file", "arguments": ${JSON_ARGS}, "id": "a1B2c3D4e"}]`,
  ),
  of("Mistral", "a list of two", `[TOOL_CALLS][${NATIVE}, ${OTHER}]</s>`, { trailing: further }),
  of(
    "Mistral",
    "two calls",
    `[TOOL_CALLS]read_text_file[ARGS]${JSON_ARGS}[TOOL_CALLS]read_text_file[ARGS]{"path": "notes/bus.md"}`,
    {
      trailing: '[TOOL_CALLS]read_text_file[ARGS]{"path": "notes/bus.md"}',
    },
  ),
  of(
    "Mistral",
    "thinking before it",
    `[THINK]Which file? rail.md.[/THINK][TOOL_CALLS]read_text_file[ARGS]${JSON_ARGS}`,
  ),
  of("Mistral", "another tool", `[TOOL_CALLS]web_search[ARGS]{"query": "trains"}`, {
    name: "web_search",
    args: { query: "trains" },
  }),

  of("Llama", "a function tag", `<function=read_text_file>${JSON_ARGS}</function>`),
  of(
    "Llama",
    "a function tag, end of message",
    `<function=read_text_file>${JSON_ARGS}</function><|eom_id|>`,
  ),
  of(
    "Llama",
    "a function tag, words behind it",
    `<function=read_text_file>${JSON_ARGS}</function>\nLet me look.`,
    {
      trailing: "Let me look.",
    },
  ),
  of(
    "Llama",
    "a function tag of another tool",
    `<function=list_files>{"folder": "notes"}</function>`,
    {
      name: "list_files",
      args: { folder: "notes" },
    },
  ),
  of(
    "Llama",
    "a python tag and JSON",
    `<|python_tag|>{"name": "read_text_file", "parameters": ${JSON_ARGS}}<|eom_id|>`,
  ),
  of(
    "Llama",
    "a python tag and a type",
    `<|python_tag|>{"type": "function", "name": "read_text_file", "parameters": ${JSON_ARGS}}`,
  ),
  of(
    "Llama",
    "a python tag and two",
    `<|python_tag|>{"name": "read_text_file", "parameters": ${JSON_ARGS}}; {"name": "read_text_file", "parameters": {"path": "b.md"}}`,
    {
      trailing: '; {"name": "read_text_file", "parameters": {"path": "b.md"}}',
    },
  ),
  of(
    "Llama",
    "a python tag and a method",
    `<|python_tag|>read_text_file.call(path="notes/rail.md")<|eom_id|>`,
  ),
  of(
    "Llama",
    "JSON without a tag",
    `{"name": "read_text_file", "parameters": ${JSON_ARGS}}<|eot_id|>`,
  ),
  of(
    "Llama",
    "version 4",
    `<|python_start|>[read_text_file(path="notes/rail.md")]<|python_end|><|eot|>`,
    {
      trailing: "<|eot|>",
    },
  ),
  of(
    "Llama",
    "a list of calls",
    `[read_text_file(path="notes/rail.md"), read_text_file(path="b.md")]`,
    {
      trailing: further,
    },
  ),

  of("Qwen3-Coder", "a tag", `<tool_call>\n${XML}\n</tool_call>`),
  of("Qwen3-Coder", "without the outer tag", `${XML}\n</tool_call>`),
  of(
    "Qwen3-Coder",
    "on one line",
    "<tool_call><function=read_text_file><parameter=path>notes/rail.md</parameter></function></tool_call>",
  ),
  of(
    "Qwen3-Coder",
    "a parameter that nothing closes",
    "<tool_call>\n<function=read_text_file>\n<parameter=path>\nnotes/rail.md\n</function>\n</tool_call>",
  ),
  of(
    "Qwen3-Coder",
    "two calls",
    `<tool_call>\n${XML}\n</tool_call>\n<tool_call>\n${XML}\n</tool_call>`,
    {
      trailing: `<tool_call>\n${XML}\n</tool_call>`,
    },
  ),
  of(
    "Qwen3-Coder",
    "two parameters",
    "<tool_call>\n<function=grep>\n<parameter=pattern>\na < b\n</parameter>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>",
    {
      name: "grep",
      args: { pattern: "a < b", path: "src" },
    },
  ),
  of(
    "Seed-OSS",
    "its own tag",
    `<seed:think>rail.md.</seed:think><seed:tool_call>\n<function=read_text_file>\n<parameter=path>notes/rail.md</parameter>\n</function>\n</seed:tool_call>`,
  ),
  of(
    "MiniMax",
    "invoke",
    `<minimax:tool_call>\n<invoke name="read_text_file">\n<parameter name="path">notes/rail.md</parameter>\n</invoke>\n</minimax:tool_call>`,
  ),
  of(
    "Claude's",
    "function_calls",
    `<function_calls>\n<invoke name="read_text_file">\n<parameter name="path">notes/rail.md</parameter>\n</invoke>\n</function_calls>`,
  ),
  of(
    "Claude's",
    "invoke alone",
    `<invoke name="read_text_file"><parameter name="path">notes/rail.md</parameter></invoke>`,
  ),

  of(
    "GLM",
    "pairs",
    "<tool_call>read_text_file\n<arg_key>path</arg_key>\n<arg_value>notes/rail.md</arg_value>\n</tool_call>",
  ),
  of(
    "GLM",
    "pairs on one line",
    "<think></think><tool_call>read_text_file<arg_key>path</arg_key><arg_value>notes/rail.md</arg_value></tool_call><|observation|>",
    {
      trailing: "<|observation|>",
    },
  ),
  of(
    "GLM",
    "two pairs",
    "<tool_call>grep\n<arg_key>pattern</arg_key>\n<arg_value>a b</arg_value>\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n</tool_call>",
    {
      name: "grep",
      args: { pattern: "a b", path: "src" },
    },
  ),
  of("GLM", "version 4", `read_text_file\n${JSON_ARGS}`),
  of("Functionary", "a name and JSON", `>>>read_text_file\n${JSON_ARGS}`),

  of(
    "gpt-oss",
    "a message to the tool",
    `<|channel|>commentary to=functions.read_text_file <|constrain|>json<|message|>${JSON_ARGS}<|call|>`,
  ),
  of(
    "gpt-oss",
    "thinking before it",
    `<|channel|>analysis<|message|>Need rail.md.<|end|><|start|>assistant<|channel|>commentary to=functions.read_text_file <|constrain|>json<|message|>${JSON_ARGS}<|call|>`,
  ),
  of(
    "gpt-oss",
    "the tool in the role",
    `<|start|>assistant to=functions.read_text_file<|channel|>commentary json<|message|>${JSON_ARGS}<|call|>`,
  ),
  of(
    "gpt-oss",
    "without special tokens",
    `assistantcommentary to=functions.read_text_file json${JSON_ARGS}`,
  ),
  of("gpt-oss", "without a channel", `to=functions.read_text_file code ${JSON_ARGS}`),
  of(
    "gpt-oss",
    "a word to the user before it",
    `<|channel|>commentary<|message|>I will read the note.<|end|><|start|>assistant<|channel|>commentary to=functions.read_text_file <|constrain|>json<|message|>${JSON_ARGS}<|call|>`,
  ),
  of(
    "gpt-oss",
    "another tool",
    `<|channel|>commentary to=functions.list_files<|message|>{"folder": "."}<|call|>`,
    {
      name: "list_files",
      args: { folder: "." },
    },
  ),

  of("Gemma", "tool_code", '```tool_code\nread_text_file(path="notes/rail.md")\n```'),
  of(
    "Gemma",
    "tool_code, printed",
    '```tool_code\nprint(read_text_file(path="notes/rail.md"))\n```<end_of_turn>',
  ),
  of(
    "Gemma",
    "tool_code, of a module",
    "```tool_code\nprint(default_api.read_text_file(path='notes/rail.md'))\n```",
  ),
  of("Gemma", "tool_code, without a name", '```tool_code\nread_text_file("notes/rail.md")\n```'),
  of(
    "Gemma",
    "tool_code, a list",
    "```tool_code\n[read_text_file(path='notes/rail.md')]\n```\n\nOnce I have it, I can say more.",
    {
      trailing: "Once I have it, I can say more.",
    },
  ),
  of("Gemma", "tool_code, JSON", `\`\`\`tool_code\n${NATIVE}\n\`\`\``),
  of(
    "Gemma",
    "tool_code, another tool",
    '```tool_code\nlist_files(folder="notes", depth=2, hidden=False)\n```',
    {
      name: "list_files",
      args: { folder: "notes", depth: 2, hidden: false },
    },
  ),
  of(
    "FunctionGemma",
    "escapes",
    "<start_function_call>call:read_text_file{path:<escape>notes/rail.md<escape>}<end_function_call><start_function_response>",
    {
      trailing: "<start_function_response>",
    },
  ),
  of(
    "FunctionGemma",
    "a number beside a text",
    "<start_function_call>call:grep{pattern:<escape>a, {b}<escape>,limit:3}<end_function_call>",
    {
      name: "grep",
      args: { pattern: "a, {b}", limit: 3 },
    },
  ),

  of("Python", "a list of one", '[read_text_file(path="notes/rail.md")]'),
  of("Python", "single quotes and a comma at the end", "[read_text_file(path='notes/rail.md',)]"),
  of("Python", "a line", 'read_text_file(path="notes/rail.md")'),
  of("Python", "a line in a fence", '```python\nread_text_file(path="notes/rail.md")\n```'),
  of(
    "Python",
    "words on the next line",
    '[read_text_file(path="notes/rail.md")]\nI need the note.',
    {
      trailing: "I need the note.",
    },
  ),
  of(
    "Python",
    "another tool, and nothing else",
    "[list_files(folder='notes', only=['md', 'txt'])]",
    {
      name: "list_files",
      args: { folder: "notes", only: ["md", "txt"] },
    },
  ),
  of(
    "LFM2",
    "its tag",
    '<|tool_call_start|>[read_text_file(path="notes/rail.md")]<|tool_call_end|>Reading it.',
    {
      trailing: "Reading it.",
    },
  ),
  of(
    "MiniCPM",
    "its tag and a fence",
    '<|tool_call_start|>\n```python\nread_text_file(path="notes/rail.md")\n```\n<|tool_call_end|>',
  ),
  of(
    "OLMo",
    "function_calls",
    '<function_calls>\nread_text_file(path="notes/rail.md")\n</function_calls>',
  ),

  of(
    "DeepSeek",
    "V3 and R1",
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_text_file\n\`\`\`json\n${JSON_ARGS}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>`,
  ),
  of(
    "DeepSeek",
    "R1, thinking before it",
    `<think>\nrail.md, then.\n</think>\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_text_file\n\`\`\`json\n${JSON_ARGS}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ),
  of(
    "DeepSeek",
    "V3.1",
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_text_file<｜tool▁sep｜>${JSON_ARGS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ),
  of(
    "DeepSeek",
    "V3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_text_file">\n<｜DSML｜parameter name="path" string="true">notes/rail.md</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  ),
  of(
    "DeepSeek",
    "V3.2, a number",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="grep">\n<｜DSML｜parameter name="limit" string="false">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    {
      name: "grep",
      args: { limit: 5 },
    },
  ),
  of(
    "Kimi",
    "a section",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_text_file:0<|tool_call_argument_begin|>${JSON_ARGS}<|tool_call_end|><|tool_calls_section_end|>`,
  ),
  of(
    "Kimi",
    "two calls",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_text_file:0<|tool_call_argument_begin|>${JSON_ARGS}<|tool_call_end|><|tool_call_begin|>functions.read_text_file:1<|tool_call_argument_begin|>{"path": "b.md"}<|tool_call_end|><|tool_calls_section_end|>`,
    {
      trailing:
        '<|tool_call_begin|>functions.read_text_file:1<|tool_call_argument_begin|>{"path": "b.md"}<|tool_call_end|><|tool_calls_section_end|>',
    },
  ),
  of(
    "Step",
    "invoke in a section",
    '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="read_text_file"><steptml:parameter name="path">notes/rail.md</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>',
  ),

  of("Granite", "a list behind a mark", `<|tool_call|>[${NATIVE}]`),
  of("Granite", "a list in a tag", `<tool_call>[${NATIVE}]</tool_call>`),
  of("Granite", "function_call", `<function_call> ${NATIVE}`),
  of(
    "Phi",
    "a mark at both ends",
    `<|tool_call|>[{"name": "read_text_file", "parameters": ${JSON_ARGS}}]<|/tool_call|>`,
  ),
  of("Phi", "functools", `functools[{"name": "read_text_file", "arguments": ${JSON_ARGS}}]`),
  of("Jamba", "tool_calls", `<tool_calls>[\n  ${NATIVE}\n]</tool_calls>`),
  of("Nemotron", "TOOLCALL", `<TOOLCALL>[${NATIVE}]</TOOLCALL>`),
  of("LongCat", "its own tag", `<longcat_tool_call>\n${NATIVE}\n</longcat_tool_call>`),
  of(
    "Apertus",
    "a name as a key",
    `<|tools_prefix|>[{"read_text_file": ${JSON_ARGS}}]<|tools_suffix|>`,
  ),
  of(
    "InternLM",
    "an action",
    `<|action_start|><|plugin|>\n{"name": "read_text_file", "parameters": ${JSON_ARGS}}<|action_end|>`,
  ),
  of(
    "Command-R",
    "an action in a fence",
    `Action: \`\`\`json\n[\n    {\n        "tool_name": "read_text_file",\n        "parameters": ${JSON_ARGS}\n    }\n]\n\`\`\``,
  ),
  of(
    "Command-R",
    "version 7B and A",
    `<|START_THINKING|>I will read rail.md.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "read_text_file", "parameters": ${JSON_ARGS}}\n]<|END_ACTION|>`,
  ),
  of(
    "ReAct",
    "an action and its input",
    `Action: read_text_file\nAction Input: ${JSON_ARGS}\nObservation:`,
    {
      trailing: "Observation:",
    },
  ),
];

/** Answers, some of them about calls, that hold none. */
export const NO_CALLS: readonly string[] = [
  "The rail line opened in 1998 [1].",
  "Qwen puts a call between <tool_call> and </tool_call> [1].",
  "Hermes models wrap calls in `<tool_call>` tags [1].",
  "The mark <tool_call> [1] comes first.",
  "Mistral writes [TOOL_CALLS] before the list [1].",
  "After [TOOL_CALLS] comes the name, then [ARGS] [2].",
  "Llama 3.1 marks code with <|python_tag|> and ends it with <|eom_id|> [1].",
  "A <function=…> tag names the tool [1].",
  "`<function=NAME>` opens a call, `</function>` ends it [1].",
  "DeepSeek begins with <｜tool▁calls▁begin｜> and ends with <｜tool▁calls▁end｜> [1].",
  "Kimi begins with <|tool_calls_section_begin|> [2].",
  "gpt-oss addresses a tool with to=functions.NAME in the commentary channel [1].",
  "In harmony, `to=functions.get_weather` stands in the header [1].",
  "Gemma writes its calls in a fence of the language tool_code [1].",
  "The tool read_text_file(path) reads a file [1].",
  'Write `read_text_file(path="a.md")` to read a.md [1].',
  'The note says that read_text_file(path="a.md") was called twice [1].',
  "Action: close the valve. Action Input: none [1].",
  "Action: the board approved the budget [1].",
  "The functools module has `reduce` and `partial` [1].",
  "from functools import partial\n\nIt is used for callbacks [1].",
  "functools.reduce(add, [1, 2]) gives 3 [1].",
  'The example is:\n```python\nprint(greet(name="Ann"))\n```\nIt prints a greeting [1].',
  'It is set up with:\n```python\nconnect(host="db", port=5432)\n```\n[1]',
  'client.get(url="https://example.org", timeout=5) is the call in the script [2].',
  '["rail.md", "bus.md"] are the two notes [1].',
  "[rail.md](notes/rail.md) holds the timetable [1].",
  "[1] and [2] say that the depot opened in 1998.",
  "[x] done\n[ ] open\nBoth lists are in the note [1].",
  '{"name": "rail", "arguments": {"speed": 3}} is the sample record [1].',
  '{"answer": "Every 20 minutes", "cites": [1]}',
  '```json\n{"host": "db", "port": 5432}\n```\nis the configuration [1].',
  "<invoke> is an element of the form language [1].",
  '<parameter name="path"> sets the folder in the XML file [1].',
  "The function_call field is deprecated [1].",
  "call:ambulance is the label of the first button [1].",
  "The tool_calls table has a row for each call [1].",
  "<b>Rail</b>: every 20 minutes [1].",
  "In TypeScript: `function read<T>(path: string): T` [1].",
  "if (read_text_file) { close(); } is in the listing [1].",
];
