// The clock of the picture: play, pause, scrub, slow motion.

/** Moves a time from 0 to an end and reports it; of a run that is being computed, up to what it has reached. */
export class Playback {
  /** @param {(time: number, pace: number) => void} report Called at most once a frame. */
  constructor(report) {
    this.report = report;
    this.time = 0;
    this.end = 0;
    this.reached = 0;
    this.pace = 1;
    this.playing = false;
  }

  /** Begins again with a new end, of which so much is there. */
  reset(end, reached = end) {
    this.end = end;
    this.reached = reached;
    this.seek(this.time);
  }

  /** More is there. */
  extend(reached) {
    this.reached = Math.min(reached, this.end);
  }

  /** Goes to a time. */
  seek(time) {
    this.time = Math.max(0, Math.min(time, this.reached));
    this.report(this.time, this.pace);
  }

  /** Pauses. */
  stop() {
    this.playing = false;
  }

  /** Plays or pauses. */
  toggle() {
    this.playing = !this.playing;
    if (!this.playing) return;
    if (this.time >= this.end) this.time = 0;
    let last = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      this.seek(this.time + ((now - last) / 1000) * this.pace);
      last = now;
      if (this.time >= this.end) {
        this.playing = false;
        this.report(this.time, this.pace);
      } else {
        requestAnimationFrame(step);
      }
    };
    requestAnimationFrame(step);
  }
}
