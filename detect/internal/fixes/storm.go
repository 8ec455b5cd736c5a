package fixes

import "github.com/keyheat/keyheat/detect"

// Storm returns the caller whose retries come before the key itself, if there is one. Equal
// retries of many callers are no storm of one. A partition also refuses a demand far above
// its limit if callers back off.
func Storm(f *detect.Finding) (*detect.CallerRetries, bool) {
	who, most := mostRetries(f)
	demand := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU).Value / detect.Units(f.Limit()) // repeated attempts do not count
	if !most || f.Evidence.Records < detect.MinRecords || f.Evidence.Retries.Amplification < detect.StormAmplification || who.BacksOff() || demand > detect.StormDemand {
		return nil, false
	}
	return who, true
}

// mostRetries returns the caller that makes most of the key's retries, if one does.
func mostRetries(f *detect.Finding) (*detect.CallerRetries, bool) {
	if f.Evidence == nil || f.Evidence.Retries == nil || len(f.Evidence.Retries.Callers) == 0 {
		return nil, false
	}
	r := f.Evidence.Retries
	who := &r.Callers[0]
	return who, who.Retries() > 0 && who.Retries() >= detect.StormShare*r.Retries()
}

// ForStorm returns the step for a caller that sends a key's requests again and again, if
// one does.
func ForStorm(f *detect.Finding) (detect.Step, bool) {
	found, applies := retryStorm(caseOf(f))
	return found.step(detect.FixCalmRetries), applies
}

// retryStorm is a caller that sends most of the key's attempts again.
func retryStorm(c *Case) (fix, bool) {
	who, storms := Storm(c.Finding)
	if !storms {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Caller: who.Caller, Sent: who.Amplification}, place: first, after: c.newAfter(1, 1)}, true
}
