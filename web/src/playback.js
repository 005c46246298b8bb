// The clock of the picture: play, pause, scrub, slow motion.

/** Moves a time from 0 to an end and reports it. */
export class Playback {
  /** @param {(time: number, pace: number) => void} report Called at most once a frame. */
  constructor(report) {
    this.report = report;
    this.time = 0;
    this.end = 0;
    this.pace = 1;
    this.playing = false;
  }

  /** Begins again with a new end. */
  reset(end) {
    this.end = end;
    this.seek(Math.min(this.time, end));
  }

  /** Goes to a time. */
  seek(time) {
    this.time = Math.max(0, Math.min(time, this.end));
    this.report(this.time, this.pace);
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
