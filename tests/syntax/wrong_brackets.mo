model M
  Real x = f({1, 2, g(3), 4);
  Real y = f({1, 2), 4});
  Real z(start = {1, 2}}, fixed = true);
  Real A[:, :] = [1, 2; 3 4; 5, 6];
  Real w = 1;
  annotation (Icon(graphics = {Line(points = {{1, 2}, {3, 4}, color = {1, 2, 3}), Text(extent = {1, 2})}));
end M;
// error[E0105] 2:28 `{` is not closed
// error[E0105] 3:19 `)` does not close `{`
// error[E0105] 4:24 `}` does not close `(`
// error[E0101] 5:27 expected `,`, `;` or `]`, found `4`
// error[E0105] 7:68 `{` is not closed
