// Elements in one call.

/**
 * Makes an element. Text is always text: no value becomes markup.
 *
 * @param {string} name Tag name.
 * @param {Object} [properties] Properties; `on` holds listeners, `data` and `aria` attributes.
 * @param {...(Node|string|null)} children
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  const { on = {}, data = {}, aria = {}, ...rest } = properties;
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  for (const [key, value] of Object.entries(data)) made.dataset[key] = value;
  for (const [key, value] of Object.entries(aria)) made.setAttribute(`aria-${key}`, value);
  for (const [key, value] of Object.entries(rest)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** The element with this id. */
export const byId = (id) => document.getElementById(id);
