// Light or dark: as the system has it, until the reader turns it.
import { forgetColours, isDark } from './colours.js';

/** Turns the page from light to dark or back. */
export function turnTheme() {
  document.documentElement.style.colorScheme = isDark() ? 'light' : 'dark';
  forgetColours();
}
