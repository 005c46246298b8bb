// The gallery: a question first, a prediction, then what the run shows.
import { byId, element } from './dom.js';

/** Shows a lesson and moves between lessons. */
export class Lessons {
  /**
   * @param {Array<Object>} all `{name, chapter, title, question, answers, right, chart, explains, slider, text}`; a slider is
   * `{label, paths, values, start}`.
   * @param {{setText: Function, changeAll: Function, ask: Function, reveal: Function}} page
   */
  constructor(all, page) {
    this.all = all;
    this.page = page;
    const select = byId('lesson');
    const chapters = [...new Set(all.map((lesson) => lesson.chapter))];
    select.replaceChildren(...chapters.map((chapter) =>
      element('optgroup', { label: chapter }, ...all.flatMap((lesson, at) =>
        lesson.chapter === chapter ? [element('option', { value: String(at) }, lesson.title)] : []))));
    select.addEventListener('change', () => {
      if (select.value.startsWith('#')) location.hash = select.value;
      else this.#choose(Number(select.value));
    });
  }

  /** Lists lab sheets below the lessons. */
  list(sheets) {
    if (sheets.length === 0) return;
    byId('lesson').append(element('optgroup', { label: 'Lab sheets of a course' },
      ...sheets.map(({ name, title }) => element('option', { value: `#sheet=${name}` }, title))));
  }

  #choose(at) {
    const address = `#lesson=${this.all[at].name}`;
    if (location.hash === address) this.open(at);
    else location.hash = address;
  }

  /** The place of the lesson that a fragment names, as in `#lesson=collapse`; undefined if it names none. */
  find(fragment) {
    const at = this.all.findIndex(({ name }) => fragment === `#lesson=${name}`);
    return at < 0 ? undefined : at;
  }

  /** Opens a lesson. */
  async open(at) {
    const lesson = this.all[at];
    if (!lesson) return;
    byId('lesson').value = String(at);
    byId('question').textContent = lesson.question;
    byId('explains').textContent = lesson.explains;
    this.page.ask(lesson.chart);
    byId('answers').replaceChildren(...lesson.answers.map((answer, choice) =>
      element('button', {
        type: 'button',
        on: { click: () => this.#answer(lesson, choice) },
      }, answer)));
    this.#showSlider(lesson.slider);
    await this.page.setText(lesson.text);
  }

  /** Marks the right answer, and the one that was chosen if it is another, and shows what happens. */
  #answer(lesson, choice) {
    [...byId('answers').children].forEach((button, at) => {
      button.removeAttribute('data-verdict');
      if (at === lesson.right) button.dataset.verdict = 'right';
      else if (at === choice) button.dataset.verdict = 'wrong';
      button.setAttribute('aria-pressed', String(at === choice));
    });
    byId('verdict').textContent = choice === lesson.right ? 'Right.' : `No: ${lesson.answers[lesson.right]}.`;
    this.page.reveal();
  }

  #showSlider(slider) {
    const place = byId('slider');
    place.replaceChildren();
    place.hidden = !slider;
    if (!slider) return;
    const { label, paths, values } = slider;
    const shown = element('output', {}, String(values[slider.start]));
    const input = element('input', {
      type: 'range', min: 0, max: values.length - 1, step: 1, value: slider.start, id: 'slider-input',
      aria: { label, valuetext: String(values[slider.start]) },
      on: {
        input: (event) => {
          const value = values[Number(event.target.value)];
          shown.textContent = String(value);
          event.target.setAttribute('aria-valuetext', String(value));
        },
        change: async (event) => {
          const value = values[Number(event.target.value)];
          await this.page.changeAll(paths.map(parsePath), value);
        },
      },
    });
    place.append(element('label', { htmlFor: 'slider-input' }, label), input, shown);
  }
}

/** `flows[0].cc.b` as `["flows", 0, "cc", "b"]`. */
export function parsePath(path) {
  return path.split(/[.[\]]+/).filter(Boolean).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
