package chart

// Bar is a load beside the limit, which stands in its middle. Its Width is of 400 pixels.
type Bar struct {
	Name, Text, Width string
	Over              bool
}

const barWidth = 400.0

// NewBar returns the bar of a load, which is a share of the limit.
func NewBar(name, text string, share float64) Bar {
	return Bar{Name: name, Text: text, Width: number(barWidth * min(1, share/2)), Over: share > 1}
}
