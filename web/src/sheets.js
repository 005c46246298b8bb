// Lab sheets of a course: questions whose runs are done here, answers saved as a file for the grader.
import { byId, element } from './dom.js';
import { offer } from './download.js';

const KEPT = 'ackclock-sheet-';
// The chart of this page that shows what a figure of the command line does.
const CHARTS = {
  cwnd: 'window', throughput: 'rate', fairness: 'rate', queue: 'queue', 'queue-delay': 'queue', rtt: 'rtt',
  completions: 'transfers', phase: 'phase',
};

/** Shows a sheet, opens its runs, keeps what was answered. */
export class Sheets {
  /**
   * @param {Array<Object>} all `{name, title, about, questions, runs}`; a question is `{id, text, answers, unit, points, runs, figure, flow}`,
   * a run `{id, text, set}`.
   * @param {{openRun: Function}} page
   */
  constructor(all, page) {
    this.all = all;
    this.page = page;
  }

  /** The sheet that a fragment names, as in `#sheet=fairness`; undefined if it names none. */
  find(fragment) {
    return this.all.find(({ name }) => fragment === `#sheet=${name}`);
  }

  /** Opens a sheet with its first run. */
  async open(sheet) {
    this.sheet = sheet;
    this.answers = this.#read(sheet.name);
    byId('sheet').replaceChildren(
      element('h2', {}, sheet.title),
      element('p', {}, sheet.about),
      element('p', {}, 'Answer before you open a run; then look, and change what you now know better. Nothing is marked here.'),
      element('ol', {}, ...sheet.questions.map((question) => this.#question(question))),
      element('button', { type: 'button', className: 'main', id: 'save-answers', on: { click: () => this.#save() } }, 'Save answers.toml'));
    await this.page.openRun(sheet.runs[0]);
  }

  /** Opens a run of a question, with the one chart of the question below it. */
  async #show(item, question, id) {
    item.append(byId('key-chart'));
    await this.page.openRun(this.sheet.runs.find((run) => run.id === id), CHARTS[question.figure] ?? null, question.flow);
    byId('key-chart').scrollIntoView({ block: 'nearest' });
  }

  #question(question) {
    const item = element('li');
    const name = `answer-${question.id}`;
    const set = (value) => {
      this.answers[question.id] = value;
      try {
        sessionStorage.setItem(KEPT + this.sheet.name, JSON.stringify(this.answers));
      } catch {
        // A page from disk may keep nothing; the answers stay as long as it is open.
      }
    };
    const value = this.answers[question.id] ?? '';
    const label = `${question.text} (${question.points})`;
    const runs = question.runs.map((id) => element('button', {
      type: 'button', className: 'quiet', data: { run: id },
      on: { click: () => this.#show(item, question, id) },
    }, `Open ${id}`));
    let field;
    if (question.answers.length) {
      field = element('fieldset', {}, element('legend', {}, label), ...question.answers.map((answer, at) => {
        const letter = String.fromCharCode(97 + at);
        return element('label', {}, element('input', {
          type: 'radio', name, value: letter, checked: value === letter, on: { change: () => set(letter) },
        }), ` ${answer}`);
      }));
    } else {
      const input = element(question.unit ? 'input' : 'textarea', { id: name, value, on: { input: (event) => set(event.target.value) } });
      if (question.unit) input.inputMode = 'decimal';
      field = element('div', {}, element('label', { htmlFor: name }, label), input, question.unit ? ` ${question.unit}` : null);
    }
    item.append(field, element('div', { className: 'runs' }, ...runs));
    return item;
  }

  #read(name) {
    try {
      return JSON.parse(sessionStorage.getItem(KEPT + name)) ?? {};
    } catch {
      return {};
    }
  }

  #save() {
    offer('answers.toml', answersToml(this.sheet, this.answers), 'application/toml');
  }
}

/** Answers as the grader reads them. */
export function answersToml(sheet, answers) {
  const lines = sheet.questions.filter(({ id }) => answers[id]).map(({ id, unit }) => {
    const number = Number(String(answers[id]).replace(',', '.'));
    const isNumber = unit && String(answers[id]).trim() && Number.isFinite(number);
    return `${id} = ${isNumber ? number : JSON.stringify(answers[id])}`;
  });
  return [`sheet = ${JSON.stringify(sheet.name)}`, '', '[answers]', ...lines, ''].join('\n');
}
