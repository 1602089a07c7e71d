// Numbers as people read them. A value that is not known is a dash.

const UNKNOWN = "–";
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const known = (show) => (value) => (value === null || value === undefined ? UNKNOWN : show(value));

export const count = known((value) => whole.format(value));
export const compact = known((value) => {
  if (value < 10 && !Number.isInteger(value)) return value.toFixed(1);
  return value < 10_000 ? whole.format(value) : short.format(value);
});
export const percent = known((value) => `${Math.round(value * 100)} %`);
export const ratio = known((value) => value.toFixed(2));
export const micros = known((value) => (value * 1e6).toLocaleString("en", { maximumFractionDigits: 1 }));
export const bytes = known((value) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value, unit = 0;
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit ? size.toFixed(1) : size} ${units[unit]}`;
});

// 0.43 ms, 12 ms, 3.4 s: two or three digits whatever the size.
export const time = known((value) => {
  if (value === 0) return "0 ms";
  if (value < 0.01) return `${(value * 1e3).toFixed(value < 1e-4 ? 3 : 2)} ms`;
  if (value < 1) return `${Math.round(value * 1e3)} ms`;
  return value < 60 ? `${value.toFixed(1)} s` : duration(value);
});

export function duration(seconds) {
  const whole = Math.round(seconds), hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

export const moment = (seconds) => new Date(seconds * 1000).toLocaleTimeString();
