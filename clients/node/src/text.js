// Reads key conditions and simple PartiQL statements, as far as their text shows a key.

// A quoted word with doubled quotes inside, a number, a name, a comparison, or a single sign.
const WORD =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|[0-9-][^ \t\r\n'"=<>,?:()[\]{}]*|[^ \t\r\n'"=<>,.?:()[\]{}]+|[<>][=>]|[^ \t\r\n]/g;

/** Returns the attributes that a Query's condition compares by equality. */
export function readCondition({ KeyConditionExpression = "", KeyConditions = {}, ...input }) {
  const words = KeyConditionExpression.match(WORD) ?? [];
  const old = Object.entries(KeyConditions).filter(([, { ComparisonOperator: operator }]) => operator === "EQ");
  const found = Object.fromEntries(old.map(([name, { AttributeValueList }]) => [name, AttributeValueList[0]]));
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input;
  return { ...found, ...pairs(words, 0, "=", { names, values }) };
}

export function readStatement({ Statement, Parameters: parameters }) {
  const words = Statement.match(WORD) ?? [];
  const upper = words.map((word) => word.toUpperCase());
  const at = upper.findIndex((word) => ["FROM", "INTO", "UPDATE"].includes(word)) + 1;
  const inserts = upper[0] === "INSERT";
  const start = upper.indexOf(inserts ? "VALUE" : "WHERE");
  const equal = at && start >= 0 ? pairs(words, start, inserts ? ":" : "=", { parameters }) : {};
  const index = words[at + 1] === "." ? unquote(words[at + 2]) : undefined;
  return { table: at ? unquote(words[at]) : "", index, write: upper[0] !== "SELECT", equal, after: inserts && equal };
}

// Returns the "name = value" pairs behind a word, but none inside of an attribute. With an OR, a NOT or an IN there are
// none, because an equality need not hold.
function pairs(words, start, sign, { names = {}, values = {}, parameters = [] }) {
  const found = {};
  let [depth, parameter] = [0, 0];
  for (const [i, word] of words.entries()) {
    if (word === "?") parameter++;
    if ("{[".includes(word)) depth++;
    if ("}]".includes(word)) depth--;
    const [path, name, next] = [words[i - 2], words[i - 1], words[i + 1]];
    if (i > start && /^(?:OR|NOT|IN)$/i.test(word) && name !== ":") return {};
    if (i < start || word !== sign || depth > 1 || path === ".") continue;
    const value = next === ":" ? values[":" + words[i + 2]] : literal(next, parameters[parameter]);
    if (value) found[names[name] ?? unquote(name)] = value;
  }
  return found;
}

function literal(word = "", parameter) {
  if (word[0] === "'") return { S: unquote(word) };
  return word === "?" ? parameter : /^[0-9-]/.test(word) ? { N: word } : undefined;
}

function unquote(word = "") {
  const quote = word[0];
  return word.length > 1 && "'\"".includes(quote) ? word.slice(1, -1).replaceAll(quote + quote, quote) : word;
}
