// Package incident decides what on-call hears of an incident, and when. It is pure: state
// and evidence in, the next state and messages out. Callers load, store and send.
//
// A pass asks it three questions, in this order:
//
//   - [Continue]: which finding holds, the one that the board has now or the stored one?
//   - [Compare]: which incident is each finding evidence of, and what do they prove together?
//   - [Step]: what is the incident now, and who must hear of it?
//
// # Promises
//
// While refused requests or a proven load above a limit go on, an incident is pending for
// at most its policy's time, and then fires. Its severity may change; it is observed to
// its end. It ends KeepFiring after its last harmful second, and can fire again at once.
//
// [detect.Told] records what receivers know. A message is due whenever the incident and
// Told differ in a way that matters to people, and nothing holds it back. So a message
// that a silence, an old second, a flood or a dead process held back follows by itself, and
// no restart repeats one.
package incident
