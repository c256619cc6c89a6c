// Numbers, spans of time, sums and texts as people read them.

export const count = (value) => value.toLocaleString("en");

export const short = (value) =>
  value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });

export function rate(value) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

export function span(seconds) {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value) => String(value).padStart(2, "0");
  if (hours >= 48) return `${Math.floor(hours / 24)}d ${hours % 24}h`;
  if (hours) return `${hours}h ${two(minutes)}m`;
  return minutes ? `${minutes}m ${two(whole % 60)}s` : `${whole}s`;
}

export function money(text) {
  const value = Number(text);
  if (value === 0) return "$0.00";
  const options =
    value >= 1
      ? { minimumFractionDigits: 2, maximumFractionDigits: 2 }
      : { maximumSignificantDigits: 2, maximumFractionDigits: 10 };
  return `$${value.toLocaleString("en", options)}`;
}

// What cannot be seen and might mislead is spelled out: control characters, and what turns the
// direction of writing. Line breaks and tabs stay.
const UNSEEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

export function visible(text) {
  return text.replace(/\r\n?/g, "\n").replace(UNSEEN, (letter) => {
    const code = letter.charCodeAt(0);
    return code < 256
      ? `\\x${code.toString(16).padStart(2, "0")}`
      : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

// One line of a cell.
export function oneLine(value) {
  if (value === null || value === undefined) return "";
  return visible(String(value)).replace(/\n+/g, " ↵ ").replace(/\t/g, " ");
}

export function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// Text of any length. Where it has no spaces, it is given places to break: to look for them itself
// takes a browser minutes.
export function write(element, text) {
  const marked = visible(text).replace(/\S{400,}/g, (run) => run.replace(/.{100}/gu, "$&\0"));
  const pieces = marked.split("\0");
  element.replaceChildren(...pieces.flatMap((piece) => [piece, make("wbr")]).slice(0, -1));
  return element;
}
