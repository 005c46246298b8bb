// Light or dark: as the system has it, until the reader turns it.
import { forgetColours } from './colours.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Turns the page from light to dark or back. */
export function turnTheme() {
  const root = document.documentElement;
  const isDark = root.style.colorScheme ? root.style.colorScheme === 'dark' : dark.matches;
  root.style.colorScheme = isDark ? 'light' : 'dark';
  forgetColours();
}
