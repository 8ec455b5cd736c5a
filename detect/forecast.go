package detect

import "time"

// Forecast is the growth of a key's peaks and what follows from it. It is only
// made where the data prove growth; see package forecast.
type Forecast struct {
	// Unit is wcu or rcu: what grows.
	Unit string `json:"unit"`
	// Level is the weekly peak that the trend has reached now, in units a second.
	Level float64 `json:"level"`
	// Growth is by how much the weekly peak rises a day, in units a second, with
	// its 95% interval. Low is above 0.
	Growth Figure `json:"growth"`
	// At70 and At100 are when the weekly peak reaches that share of the
	// partition's limit; null when it has, or when the data do not say.
	At70  *Crossing `json:"at_70"`
	At100 *Crossing `json:"at_100"`
	// Days is on how many days the key was seen.
	Days int `json:"days"`
}

// Crossing is when a trend reaches a level, with the 95% interval of that.
type Crossing struct {
	At       time.Time `json:"at"`
	Earliest time.Time `json:"earliest"`
	Latest   time.Time `json:"latest"`
}
