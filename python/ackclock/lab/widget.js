// The lab in a notebook: its page in a frame. The kernel sends the page when it is first shown, so
// that a saved notebook does not hold it.

async function render({ model, el }) {
  const frame = document.createElement('iframe');
  frame.title = 'ackclock lab';
  // Scripts alone: the page reaches neither the notebook nor its cookies.
  frame.setAttribute('sandbox', 'allow-scripts allow-downloads');
  frame.style.cssText = `width: 100%; height: ${model.get('height')}px; border: 1px solid #ccc`;
  el.append(frame);
  let address = null;
  const show = (content, buffers) => {
    if (content.type !== 'page' || address !== null) return;
    address = URL.createObjectURL(new Blob([buffers[0]], { type: 'text/html;charset=utf-8' }));
    frame.src = address + model.get('fragment');
  };
  model.on('msg:custom', show);
  model.send({ type: 'page' });
  return () => {
    model.off('msg:custom', show);
    if (address !== null) URL.revokeObjectURL(address);
  };
}

export default { render };
