package Saltus "Ideal components for systems whose structure changes"
  annotation(
    version = "0.1.0",
    Documentation(info = "<html>
<p>Components whose switching elements are truly ideal: a conducting diode has exactly zero voltage, an open switch
exactly zero current, an engaged clutch exactly zero slip. There is no parasitic resistance to tune and nothing to
reset by hand: what happens at the moment of a mode change follows from the equations of the whole model.</p>
<p>Connectors have the same contents as their equivalents in the Modelica Standard Library, so that components of
both can be connected with one another.</p>
<table>
<tr><td>Units</td><td>quantities with their units</td></tr>
<tr><td>Blocks</td><td>signals: sources, continuous, discrete and logical blocks, controllers</td></tr>
<tr><td>Electrical</td><td>circuits with ideal diodes, thyristors, switches and amplifiers</td></tr>
<tr><td>Rotational</td><td>shafts with ideal clutches, brakes, free wheels, friction</td></tr>
<tr><td>Translational</td><td>masses on a line with ropes, stops, impacts, friction</td></tr>
<tr><td>Planar</td><td>point masses in a plane with bars, ropes and walls</td></tr>
<tr><td>Thermal</td><td>heat storage and transport</td></tr>
<tr><td>Hydraulic</td><td>tanks that run full or empty, check and relief valves, cylinders</td></tr>
<tr><td>Fmi</td><td>units of other tools (FMUs)</td></tr>
</table>
</html>"));
end Saltus;
