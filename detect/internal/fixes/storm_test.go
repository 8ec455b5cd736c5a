package fixes_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sample"
)

// resent returns a key's retries by callers, each with its calls and attempts.
func resent(callers ...[2]float64) *detect.Retries {
	r := &detect.Retries{Seconds: 60}
	for i, c := range callers {
		sent := detect.SentCalls{Calls: c[0], Attempts: c[1], Amplification: c[1] / c[0]}
		r.Calls, r.Attempts = r.Calls+sent.Calls, r.Attempts+sent.Attempts
		r.Callers = append(r.Callers, detect.CallerRetries{Caller: sample.Text(string(rune('a' + i))), SentCalls: sent})
	}
	r.Amplification = r.Attempts / r.Calls
	return r
}

// TestStorm holds when one caller's retries are mended before the key is.
func TestStorm(t *testing.T) {
	t.Parallel()
	puts := op(sample.PutItem, 1, 900, 1)
	for _, c := range []struct {
		name  string
		units float64
		sent  *detect.Retries
		first string // the action of the first step
		storm bool
	}{
		{"one caller of two sends most again", 900, resent([2]float64{400, 1680}, [2]float64{500, 500}), detect.ActionRetry, true},
		{"the demand is a quarter above the limit", 1250, resent([2]float64{400, 1680}, [2]float64{500, 500}), detect.ActionRetry, true},
		{"the demand is far above the limit", 1300, resent([2]float64{400, 1680}, [2]float64{500, 500}), detect.ActionShard, false},
		{"three callers retry alike", 900, resent([2]float64{300, 700}, [2]float64{300, 700}, [2]float64{300, 700}), detect.ActionShard, false},
		{"few calls are sent again", 900, resent([2]float64{400, 700}, [2]float64{500, 500}), detect.ActionShard, false},
		{"every second call is", 900, resent([2]float64{400, 600}), detect.ActionRetry, true},
		{"nothing is", 900, resent([2]float64{400, 400}), detect.ActionShard, false},
		{"nobody tells", 900, nil, detect.ActionShard, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			of := hot(detect.KeyWrites, c.units, puts)
			of.Evidence.Retries = c.sent
			of.Evidence.Refused[sample.KeyRange.String()] = 100
			who, storms := fixes.Storm(of.Finding)
			if storms != c.storm || storms && who.Caller != "a" {
				t.Fatalf("storms %t, %+v", storms, who)
			}
			steps := fixes.Steps(of)
			if steps[0].Action != c.first {
				t.Errorf("first %+v", steps[0])
			}
			again := 0
			for _, s := range steps {
				if s.Action == detect.ActionRetry {
					again++
				}
			}
			if again != 1 {
				t.Errorf("%d steps are about retries", again)
			}
			if !storms {
				return
			}
			if after := steps[0].After; after == nil || after.Low != c.units || after.High != c.units || steps[0].Effort != detect.EffortSetting {
				t.Errorf("%+v leaves %+v: attempts are no demand", steps[0], after)
			}
			if a := steps[0].Arguments; a.Caller != "a" || a.Sent != c.sent.Callers[0].Amplification {
				t.Errorf("it is about %+v", a)
			}
			if step, found := fixes.ForStorm(of.Finding); !found || step.Fix != detect.FixCalmRetries || step.Arguments != steps[0].Arguments {
				t.Errorf("for the caller %+v", step)
			}
		})
	}
}

// TestAStormOfFewSamplesIsNone: a storm is said of what is known.
func TestAStormOfFewSamplesIsNone(t *testing.T) {
	t.Parallel()
	of := hot(detect.KeyWrites, 900)
	of.Evidence.Retries, of.Evidence.Records = resent([2]float64{400, 1680}), detect.MinRecords-1
	if _, storms := fixes.Storm(of.Finding); storms {
		t.Error("a storm by 19 samples")
	}
}
